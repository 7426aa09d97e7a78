"""Functions of DERIVE: post-processing of one release, free of any cost."""
