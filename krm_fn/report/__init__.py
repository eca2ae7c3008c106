"""What a run has to say, in the forms in which people and programs read it. Knows no dialect."""
