"""Text to tree and back; knows no table and no mechanism. Part of DPQL."""
