"""Where rows come from: sources, engines and the clamp."""
