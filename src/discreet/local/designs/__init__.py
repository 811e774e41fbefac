"""Two-level designs: outputs Y and a set S_v ⊂ Y for every option.

All sets have one size w, and any two of them share λ outputs.
"""
