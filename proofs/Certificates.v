(* Printed numbers, certified by interval arithmetic (Interval), and constants of the code. *)
Require Import Reals Lra ZArith.
From Interval Require Import Tactic.
Local Open Scope R_scope.
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
Theorem pure_two : 2 * ((exp 1 - exp (-1)) / (exp 1 + exp (-1))) < 1.5232. Proof. interval with (i_prec 80). Qed.
