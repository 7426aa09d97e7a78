"""From names in a script to declared things."""
