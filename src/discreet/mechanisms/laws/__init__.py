"""The laws of the noises: exact tails and quantiles."""
