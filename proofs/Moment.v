(* The lemma under "worst at its centre": a law whose excess of right over left changes sign once, from - to +, and whose mean
   is at the middle, has a third central moment that is not negative. Applied to a Gaussian cut to an interval. *)
Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
Local Open Scope R_scope.
Theorem third_moment (g : R -> R) b y0 : 0 <= y0 <= b ->
  (forall y, 0 < y < b -> y < y0 -> g y <= 0) -> (forall y, 0 < y < b -> y0 < y -> 0 <= g y) ->
  ex_RInt (fun y => y * g y) 0 b -> ex_RInt (fun y => y ^ 3 * g y) 0 b ->
  RInt (fun y => y * g y) 0 b = 0 -> 0 <= RInt (fun y => y ^ 3 * g y) 0 b.
Proof.
intros [a0 a1] neg pos e1 e3 mean.
assert (I1 := RInt_correct _ _ _ e1). assert (I3 := RInt_correct _ _ _ e3).
assert (I := is_RInt_minus _ _ _ _ _ _ I3 (is_RInt_scal _ _ _ (y0 * y0) _ I1)).
assert (z : 0 <= minus (RInt (fun y => y ^ 3 * g y) 0 b) (scal (y0 * y0) (RInt (fun y => y * g y) 0 b))).
{ apply (is_RInt_ge_0 _ 0 b _ ltac:(lra) I). intros y hy. unfold minus, plus, opp, scal; simpl; unfold mult; simpl.
  replace (y * (y * (y * 1)) * g y + - (y0 * y0 * (y * g y))) with (y * ((y - y0) * (y + y0) * g y)) by ring.
  apply Rmult_le_pos; [lra|]. destruct (Rtotal_order y y0) as [h|[->|h]]; [|lra|].
  + assert (n := neg y hy h). assert ((y - y0) * (y + y0) <= 0) by nra. nra.
  + assert (n := pos y hy h). assert (0 <= (y - y0) * (y + y0)) by nra. nra. }
rewrite mean in z. change (0 <= RInt (fun y => y ^ 3 * g y) 0 b + - (y0 * y0 * 0)) in z. lra.
Qed.
(* where both sides of the mean m are inside, a Gaussian e^(-u^2/2 - t u) has the ratio e^(-2(m+t)y): one sign *)
Theorem one_sign m t y : (- (m + y) * (m + y) / 2 - t * (m + y)) - (- (m - y) * (m - y) / 2 - t * (m - y)) = - 2 * (m + t) * y.
Proof. field. Qed.
