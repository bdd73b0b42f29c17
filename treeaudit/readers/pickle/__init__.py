"""How a pickle or joblib file becomes inert data: the interpreter and its gate."""
