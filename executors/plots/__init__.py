"""What draws releases; it sees nothing but their public JSON."""
