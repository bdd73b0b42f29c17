"""Tables of people in: files, folders, columns and single cells."""
