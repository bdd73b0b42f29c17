"""TA103: who falls once something is known. Pure functions on arrays beside the attack."""
