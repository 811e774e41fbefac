(* The tail's potentials over real orders: privacy/filters/zcdp.py, renyi.py, docs/filters.md "K_alpha". Coq's reals. *)
Require Import Reals Lra Psatz.
Local Open Scope R_scope.

Lemma ln_le_minus x : 0 < x -> ln x <= x - 1.
Proof.
intros h. destruct (Req_dec x 1) as [->|ne]; [rewrite ln_1; lra|].
apply Rnot_lt_le. intro c.
assert (e : exp (x - 1) < x) by (apply exp_increasing in c; rewrite exp_ln in c; assumption).
assert (g := exp_ineq1 (x - 1)). assert (x - 1 <> 0) by lra. specialize (g H). lra.
Qed.

(* weighted arithmetic and geometric means of two, in logarithms *)
Lemma ln_concave w a b : 0 < a -> 0 < b -> 0 <= w <= 1 -> w * ln a + (1 - w) * ln b <= ln (w * a + (1 - w) * b).
Proof.
intros ha hb [w0 w1]. set (m := w * a + (1 - w) * b).
assert (m0 : 0 < m) by (unfold m; nra).
assert (A := ln_le_minus (a / m) (Rdiv_lt_0_compat _ _ ha m0)).
assert (B := ln_le_minus (b / m) (Rdiv_lt_0_compat _ _ hb m0)).
unfold Rdiv in *. rewrite ln_mult, ln_Rinv in A, B; auto using Rinv_0_lt_compat.
assert (E : w * (a * / m - 1) + (1 - w) * (b * / m - 1) = 0) by (unfold m; field; fold m; lra).
nra.
Qed.

(* (1 - e^(eps - L))_+ <= K_alpha e^((alpha-1)(L-eps)), K_alpha = (1-1/alpha)^alpha/(alpha-1): with x = L - eps *)
Theorem tail_potential alpha x : 1 < alpha ->
  Rmax 0 (1 - exp (- x)) <= exp (alpha * ln (1 - / alpha) - ln (alpha - 1)) * exp ((alpha - 1) * x).
Proof.
intros h. apply Rmax_lub; [left; apply Rmult_lt_0_compat; apply exp_pos|].
destruct (Rle_or_lt x 0) as [n|p].
- assert (1 <= exp (- x)) by (rewrite <- exp_0; destruct (Req_dec x 0) as [->|];
    [rewrite Ropp_0; lra | left; apply exp_increasing; lra]).
  assert (0 < exp (alpha * ln (1 - / alpha) - ln (alpha - 1)) * exp ((alpha - 1) * x))
    by (apply Rmult_lt_0_compat; apply exp_pos). lra.
- rewrite <- exp_plus. set (v := exp x - 1).
  assert (v0 : 0 < v) by (assert (T := exp_increasing 0 x p); rewrite exp_0 in T; unfold v; lra).
  assert (E : 1 - exp (- x) = v * exp (- x)) by (unfold v; rewrite Rmult_minus_distr_r, <- exp_plus, Rplus_opp_r, exp_0; ring).
  rewrite E, <- (exp_ln v v0), <- exp_plus.
  assert (a0 : 0 < alpha) by lra. assert (b0 : 0 < alpha - 1) by lra.
  assert (i0 := Rinv_0_lt_compat _ a0). assert (i1 : / alpha < 1) by (rewrite <- Rinv_1; apply Rinv_1_lt_contravar; lra).
  assert (C := ln_concave (/ alpha) (alpha * v) (alpha / (alpha - 1)) ltac:(nra) ltac:(apply Rdiv_lt_0_compat; lra) ltac:(lra)).
  assert (M : / alpha * (alpha * v) + (1 - / alpha) * (alpha / (alpha - 1)) = exp x) by (unfold v; field; lra).
  rewrite M, ln_exp, ln_mult in C by assumption.
  unfold Rdiv in C. rewrite ln_mult, ln_Rinv in C by (auto using Rinv_0_lt_compat).
  assert (L : ln (1 - / alpha) = ln (alpha - 1) - ln alpha).
  { replace (1 - / alpha) with ((alpha - 1) * / alpha) by (field; lra).
    rewrite ln_mult, ln_Rinv by (auto using Rinv_0_lt_compat); ring. }
  rewrite L.
  assert (D : ln v <= alpha * x + (alpha - 1) * ln (alpha - 1) - alpha * ln alpha).
  { apply (Rmult_le_compat_l alpha) in C; [|lra].
    replace (alpha * (/ alpha * (ln alpha + ln v) + (1 - / alpha) * (ln alpha + - ln (alpha - 1))))
      with (ln v + alpha * ln alpha - (alpha - 1) * ln (alpha - 1)) in C by (field; lra). lra. }
  assert (F : ln v + - x <= alpha * (ln (alpha - 1) - ln alpha) - ln (alpha - 1) + (alpha - 1) * x) by lra.
  destruct F as [F|F]; [left; apply exp_increasing; exact F|rewrite F; right; reflexivity].
Qed.
