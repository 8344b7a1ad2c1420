"""What a memory is made of: what importers read, withheld, assembled, saved, or streamed as claims."""
