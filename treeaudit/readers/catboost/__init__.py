"""CatBoost models: the JSON form."""
