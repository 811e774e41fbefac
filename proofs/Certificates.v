(* Printed numbers, certified by interval arithmetic (Interval), and constants of the code. *)
Require Import Reals Lra ZArith.
From Interval Require Import Tactic.
Require Import Centre.
Local Open Scope R_scope.
(* the closed lattice factor 1 + 1/(11 s2) of privacy/pricing/gdp.py, used there from s2 = 16 on *)
Definition LATTICE_DENOMINATOR : Z := 11%Z.
Definition LATTICE_FROM : Z := 16%Z.
Theorem lattice_factor s2 D : IZR LATTICE_FROM <= s2 -> 0 <= D ->
  D * D = / s2 * (1 + / (IZR LATTICE_DENOMINATOR * s2)) -> sqrt (/ s2) <= D - D * D * D / 24.
Proof.
unfold LATTICE_FROM, LATTICE_DENOMINATOR; intros h D0 e. assert (p : 0 < s2) by lra. assert (i := Rinv_0_lt_compat _ p).
assert (u : / s2 <= / 16) by (apply Rinv_le_contravar; lra).
apply closed_factor; [lra | exact D0 |]. rewrite e. field. lra.
Qed.
(* prices that docs and docstrings print *)
Definition TENTH_DIGITS : Z := (10 ^ 12)%Z.
Definition LAPLACE_RHO : Z := 367879441171%Z.         (* laplace_rho(1.0) *)
Definition RESPONSE_RHO : Z := 462117157260%Z.        (* response_rho(1.0, 2) = tanh(1/2) *)
Definition DELTA_FACTOR : Z := 11107337927390%Z.      (* delta_factor(1.0, 3) *)
Definition THRESHOLD : Z := 14122363377%Z.            (* laplace_threshold(1, 1e-6), nine digits *)
Theorem laplace_rho_printed : Rabs (1 + exp (-1) - 1 - IZR LAPLACE_RHO / IZR TENTH_DIGITS) <= / IZR TENTH_DIGITS.
Proof. unfold LAPLACE_RHO, TENTH_DIGITS; interval with (i_prec 80). Qed.
Theorem response_rho_printed :
  Rabs ((exp (1 / 2) - exp (- 1 / 2)) / (exp (1 / 2) + exp (- 1 / 2)) - IZR RESPONSE_RHO / IZR TENTH_DIGITS) <= / IZR TENTH_DIGITS.
Proof. unfold RESPONSE_RHO, TENTH_DIGITS; interval with (i_prec 80). Qed.
Theorem delta_factor_printed : Rabs ((exp 3 - 1) / (exp 1 - 1) - IZR DELTA_FACTOR / IZR TENTH_DIGITS) <= / IZR TENTH_DIGITS.
Proof. unfold DELTA_FACTOR, TENTH_DIGITS; interval with (i_prec 80). Qed.
Theorem threshold_printed : Rabs (1 + ln (500000) - IZR THRESHOLD / 1000000000) <= / 1000000000.
Proof. unfold THRESHOLD; interval with (i_prec 80). Qed.
(* the two numbers that docs print, certified: zCDP(1/2) at 1e-6, and the price of pure 2 *)
Theorem zcdp_half : exists alpha, 1 < alpha /\
  alpha / 2 + (- ln (1e-6) - ln alpha) / (alpha - 1) + ln (1 - / alpha) < 5.2215345.
Proof. exists 5.9077. split; [lra|interval with (i_prec 80)]. Qed.
Theorem pure_two : 2 * ((exp 1 - exp (-1)) / (exp 1 + exp (-1))) < 1.5232. Proof. interval. Qed.
