"""People: tables in, records routed through a model, what is known of them."""
