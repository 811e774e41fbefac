"""Two-level designs: outputs Y and a set S_v ⊂ Y for every option, of one size w, any two sharing λ outputs."""
