"""Safety questions about a tripwire that are answered by proof."""
