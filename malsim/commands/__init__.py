"""Commands of malsim, one module each; every module in this folder is registered."""
