"""Safety questions about a tripwire, answered by proof."""
