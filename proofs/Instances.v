(* Theorem 1 with the potentials that the filters use, over Coq's reals: privacy/filters/{zcdp,renyi}.py. *)
Require Import Reals Lra.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.analysis Require Import Rstruct.
Require Import Admission Tail.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope R_scope.

Section RealRenyi.
Variables (alpha eps : R).
Hypothesis alpha1 : 1 < alpha.
(* p^alpha q^(1-alpha), 0 where p = 0 *)
Definition power_ratio (p q : R) : R := if p == 0 :> R then 0 else p * exp ((alpha - 1) * (ln p - ln q)).
Definition k_alpha : R := exp (alpha * ln (1 - / alpha) - ln (alpha - 1)) * exp (- ((alpha - 1) * eps)).
Lemma k_pos : 0 < k_alpha. Proof. apply Rmult_lt_0_compat; apply exp_pos. Qed.
Lemma ratio_ge0 p q : 0 <= p -> 0 <= power_ratio p q.
Proof.
move=> p0; rewrite /power_ratio; case: (p =P 0) => [_|ne]; first exact: Rle_refl.
apply Rmult_le_pos; [exact p0 | left; apply exp_pos].
Qed.
Lemma gt0 x : 0 <= x -> x <> 0 -> 0 < x. Proof. by move=> h n; lra. Qed.
Lemma ratio_mul p q p' q' : 0 <= p -> 0 <= q -> (q = 0 -> p = 0) -> 0 <= p' -> 0 <= q' -> (q' = 0 -> p' = 0) ->
  power_ratio (p * p') (q * q') = power_ratio p q * power_ratio p' q'.
Proof.
move=> p0 q0 d p0' q0' d'; rewrite /power_ratio.
case: (p =P 0) => [->|np]; first by case: eqP => _; lra.
case: (p' =P 0) => [->|np']; first by case: eqP => _; lra.
have [pp pp'] : 0 < p /\ 0 < p' by split; exact: gt0.
have [qq qq'] : 0 < q /\ 0 < q' by split; apply: gt0 => // e; [exact/np/d | exact/np'/d'].
case: eqP => [e|_]; first by have := Rmult_lt_0_compat _ _ pp pp'; lra.
rewrite !ln_mult //.
have -> : (alpha - 1) * (ln p + ln p' - (ln q + ln q')) = (alpha - 1) * (ln p - ln q) + (alpha - 1) * (ln p' - ln q') by ring.
by rewrite exp_plus; ring.
Qed.
Lemma ratio_homog c p q : 0 <= c -> 0 <= p -> 0 <= q -> (q = 0 -> p = 0) ->
  power_ratio (c * p) (c * q) = c * power_ratio p q.
Proof.
move=> c0 p0 q0 d; rewrite /power_ratio.
case: (p =P 0) => [->|np]; first by case: eqP => _; lra.
case: (c =P 0) => [->|nc]; first by rewrite Rmult_0_l; case: eqP => _; lra.
have [cc pp] : 0 < c /\ 0 < p by split; exact: gt0.
have qq : 0 < q by apply: gt0 => // e; exact/np/d.
case: eqP => [e|_]; first by have := Rmult_lt_0_compat _ _ cc pp; lra.
rewrite !ln_mult //; have -> : ln c + ln p - (ln c + ln q) = ln p - ln q by ring.
by ring.
Qed.
Lemma ratio_over p q : 0 <= p -> 0 <= q -> (q = 0 -> p = 0) -> Rmax 0 (p - exp eps * q) <= k_alpha * power_ratio p q.
Proof.
move=> p0 q0 d; rewrite /power_ratio; case: (p =P 0) => [->|np].
  rewrite Rmult_0_r Rmax_left; first exact: Rle_refl.
  have := Rmult_le_pos _ _ (Rlt_le _ _ (exp_pos eps)) q0; lra.
have pp : 0 < p by exact: gt0.
have qq : 0 < q by apply: gt0 => // e; exact/np/d.
have := @tail_potential alpha (ln p - ln q - eps) alpha1.
have e1 : exp (- (ln p - ln q - eps)) = exp eps * q / p.
  have -> : - (ln p - ln q - eps) = eps + (ln q + - ln p) by ring.
  by rewrite !exp_plus exp_Ropp !exp_ln // /Rdiv; ring.
rewrite e1 => h.
have e2 : p - exp eps * q = p * (1 - exp eps * q / p) by field; lra.
have -> : Rmax 0 (p - exp eps * q) = p * Rmax 0 (1 - exp eps * q / p).
  by rewrite -RmaxRmult // Rmult_0_r -e2.
apply: Rle_trans (Rmult_le_compat_l p _ _ p0 h) _; right; rewrite /k_alpha.
have -> : (alpha - 1) * (ln p - ln q - eps) = - ((alpha - 1) * eps) + (alpha - 1) * (ln p - ln q) by ring.
by rewrite exp_plus; ring.
Qed.

(* Row 4 over the reals: a Renyi filter of any real order alpha > 1 that starts with e^((alpha-1) capacity) = s0 promises
   delta = s0 K_alpha e^(-(alpha-1) eps) + delta''. *)
Theorem renyi_ledger (Out : finType) (pure : step R_realFieldType Out -> option R) :
  (forall e b, pure e = Some b -> (0 <= b)%R /\ forall o, (gp e o <= b * gq e o)%R) ->
  forall (s0 : state R_realFieldType) (d : R) t, 0 <= d ->
  admitted (exp eps) (renyi_pays power_ratio) pure (Some s0) (Some 1) d t ->
  realised (exp eps) 1 1 t <= sval s0 * k_alpha + d.
Proof.
move=> pure_ok s0 d t d0 ad.
have one : power_ratio 1 1 = 1.
  rewrite /power_ratio; case: eqP => [e|_]; first lra.
  have -> : (alpha - 1) * (ln 1 - ln 1) = 0 by ring.
  by rewrite exp_0; ring.
have := @renyi_admission R_realFieldType Out (exp eps) power_ratio k_alpha _ _ _ _ _ _ pure _ s0 d t _ ad.
rewrite [power_ratio _ _]one [X in (X + _)%R]mulr1 => h; apply/RleP; apply: h.
- by apply/RleP; left; apply exp_pos.
- by apply/RleP; left; exact: k_pos.
- by move=> p q /RleP p0 /RleP q0 _; apply/RleP/ratio_ge0.
- by move=> p q p' q' /RleP p0 /RleP q0 dd /RleP p0' /RleP q0' dd'; apply: ratio_mul.
- by move=> c p q /RleP c0 /RleP p0 /RleP q0 dd; apply: ratio_homog.
- by move=> p q /RleP p0 /RleP q0 dd; apply/RleP; have := ratio_over p0 q0 dd; rewrite RmaxE.
- exact: pure_ok.
- exact/RleP.
Qed.
End RealRenyi.
