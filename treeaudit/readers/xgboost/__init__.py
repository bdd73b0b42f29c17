"""XGBoost models: JSON, UBJSON, and the old binary form."""
