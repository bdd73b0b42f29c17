"""XGBoost, LightGBM and CatBoost: their own files, and inside pickles."""
