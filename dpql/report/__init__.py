"""The review sheet of a plan, in the forms that a board reads."""
