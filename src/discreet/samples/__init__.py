"""Bundled data: 1,000 people of a US census public-use sample, as shipped with opendp/smartnoise-sdk (MIT)."""
