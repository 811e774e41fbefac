(* Rows 10 to 14 together: the discrete Gaussian is worst at its centre (docs/explanation/centre.md, steps 3 and 4 from step 2).
   G is the upper tail of N(0, 1); p x = w e^(-x²/2s2) is the law at real x, T k its tail from k on; z k is where G has that tail, and
   d = 2 z 1. Named hypothesis (steps 1 and 2, differentiation under the integral): R = ln p - ln cell crosses 0 once on x > 0, and is
   convex from there on. *)
Require Import Reals Lra Psatz Lia.
From Coquelicot Require Import Coquelicot.
Require Import Centre Crossing.
Local Open Scope R_scope.
Section Worst.
Variables (G : R -> R) (w s2 d : R) (T z : nat -> R).
Hypothesis s20 : 0 < s2. Hypothesis w0 : 0 < w. Hypothesis d0 : 0 < d.
Hypothesis G_falls : forall x y, x < y -> G y < G x.
Hypothesis G_pos : forall x, 0 <= G x.
Hypothesis G_vanishes : forall eta, 0 < eta -> exists U, forall x, U <= x -> G x <= eta.
Definition p (x : R) := w * exp (- (x * x) / (2 * s2)).
Hypothesis T_next : forall k, T k = p (INR k) + T (S k).
Hypothesis T_pos : forall k, 0 <= T k.
Hypothesis z_tail : forall k, (1 <= k)%nat -> G (z k) = T k.
Hypothesis z_one : z 1 = d / 2.                        (* by symmetry z 0 = - z 1, and d = z 1 - z 0 *)
Definition cell (x : R) := G ((x - / 2) * d) - G ((x + / 2) * d).
Definition excess (x : R) := ln (p x) - ln (cell x).
Variable X : R.
Hypothesis X0 : 0 <= X.
Hypothesis one_change : (forall x, 0 <= x <= X -> excess x <= 0) /\ (forall x, X < x -> 0 <= excess x).
Hypothesis convex : convex_from X excess.
Lemma p_pos x : 0 < p x. Proof. apply Rmult_lt_0_compat; [exact w0 | apply exp_pos]. Qed.
Lemma cell_pos x : 0 < cell x. Proof. unfold cell. assert (h := G_falls ((x - / 2) * d) ((x + / 2) * d) ltac:(nra)). lra. Qed.
Lemma G_le x y : x <= y -> G y <= G x. Proof. intros [h| ->]; [left; apply G_falls; exact h | lra]. Qed.
Lemma order x : (excess x <= 0 -> p x <= cell x) /\ (0 <= excess x -> cell x <= p x).
Proof.
unfold excess. assert (a := p_pos x). assert (b := cell_pos x). split; intro h.
- apply Rnot_lt_le. intro c. assert (l := ln_increasing _ _ b c). lra.
- apply Rnot_lt_le. intro c. assert (l := ln_increasing _ _ a c). lra.
Qed.
Lemma tail_sum k n : Crossing.sum (fun j => p (INR (k + j))) n = T k - T (k + n).
Proof.
induction n as [|n ih]; simpl; [rewrite Nat.add_0_r; ring|].
rewrite ih. assert (t := T_next (k + n)). replace (k + S n)%nat with (S (k + n)) by lia. lra.
Qed.
Lemma cell_sum x n : Crossing.sum (fun j => cell (x + INR j)) n = G ((x - / 2) * d) - G ((x - / 2 + INR n) * d).
Proof.
induction n as [|n ih]; [simpl; rewrite Rplus_0_r; ring|].
simpl Crossing.sum. rewrite ih. unfold cell. rewrite S_INR.
replace (x + INR n - / 2) with (x - / 2 + INR n) by ring. replace (x + INR n + / 2) with (x - / 2 + (INR n + 1)) by field. ring.
Qed.
Lemma sum_minus f g n : Crossing.sum (fun j => f j - g j) n = Crossing.sum f n - Crossing.sum g n.
Proof. induction n as [|n ih]; simpl; [ring|]. rewrite ih. ring. Qed.
Lemma sums_same f n : Centre.sum f n = Crossing.sum f n.
Proof. induction n as [|n ih]; simpl; [reflexivity|]. rewrite ih. reflexivity. Qed.
Lemma sum_ext f g n : (forall j, f j = g j) -> Crossing.sum f n = Crossing.sum g n.
Proof. intro h. induction n as [|n ih]; simpl; [reflexivity|]. rewrite ih, h. reflexivity. Qed.
Lemma far x eta : 0 < eta -> exists N, forall n, (N <= n)%nat -> G ((x + INR n) * d) <= eta.
Proof.
intro e. destruct (G_vanishes eta e) as [U hU]. destruct (nfloor_ex (Rmax 0 (U / d - x)) (Rmax_l _ _)) as [N hN].
exists (S N). intros n hn. apply hU. assert (INR (S N) <= INR n) by (apply le_INR; exact hn). rewrite S_INR in H.
assert (m := Rmax_r 0 (U / d - x)). assert (U = U / d * d) by (field; lra). nra.
Qed.
(* step 3: the tails of p are the heavier ones *)
Lemma heavier k : (1 <= k)%nat -> z k <= (INR k - / 2) * d.
Proof.
intro k1. destruct (nfloor_ex X X0) as [K hK].
set (D := fun j => p (INR (1 + j)) - cell (1 + INR j)).
assert (at1 : forall j, INR (1 + j) = 1 + INR j) by (intro j; rewrite plus_INR; simpl; ring).
assert (total : forall n, Crossing.sum D n = G ((1 - / 2 + INR n) * d) - T (1 + n)).
{ intro n. unfold D. rewrite sum_minus, tail_sum, cell_sum. assert (t := z_tail 1 (le_n 1)). rewrite z_one in t.
  replace ((1 - / 2) * d) with (d / 2) by field. lra. }
assert (oc := one_crossing D K).
assert (c : forall n, Crossing.sum D n <= 0).
{ apply oc.
  - intros j hj. unfold D. rewrite at1. assert (INR (S j) <= INR K) by (apply le_INR; lia). rewrite S_INR in H.
    assert (q := pos_INR j). assert (o := proj1 (order (1 + INR j)) (proj1 one_change (1 + INR j) ltac:(lra))). lra.
  - intros j hj. unfold D. rewrite at1. assert (INR K <= INR j) by (apply le_INR; exact hj).
    assert (o := proj2 (order (1 + INR j)) (proj2 one_change (1 + INR j) ltac:(lra))). lra.
  - intros eta e. destruct (far (1 - / 2) eta e) as [N hN]. exists N. intros n hn. rewrite total.
    assert (a := hN n hn). assert (b := T_pos (1 + n)). lra. }
assert (h := c (k - 1)%nat). rewrite total in h. replace (1 + (k - 1))%nat with k in h by lia.
rewrite minus_INR in h by exact k1. simpl (INR 1) in h.
replace (1 - / 2 + (INR k - 1)) with (INR k - / 2) in h by ring.
apply Rnot_lt_le. intro l. assert (g := G_falls _ _ l). assert (t := z_tail k k1). lra.
Qed.
(* step 4: no cell of p is heavier than the cell of width d that begins where its tail begins *)
Theorem worst_at_the_centre k : (1 <= k)%nat -> 0 <= z k -> z (S k) - z k <= d.
Proof.
intros k1 zk. set (j0 := INR k - / 2 - z k / d).
assert (j00 : 0 <= j0).
{ assert (h := heavier k k1). unfold j0. apply (Rmult_le_reg_r d); [exact d0|]. rewrite Rmult_0_l.
  replace ((INR k - / 2 - z k / d) * d) with ((INR k - / 2) * d - z k) by (field; lra). lra. }
set (x0 := INR k - j0). assert (x0d : (x0 - / 2) * d = z k) by (unfold x0, j0; field; lra).
assert (x0p : 0 <= x0) by (unfold x0, j0; assert (0 <= z k / d) by (apply Rdiv_le_0_compat; assumption); lra).
set (r := fun x => excess x - j0 * (2 * x + j0) / (2 * s2)).
destruct (shifted excess X j0 s2 s20 j00 X0 (proj1 one_change X ltac:(lra)) convex) as [rX [rc rle]]. fold r in rX, rc, rle.
assert (pq : forall j, p (INR (k + j)) = cell (x0 + INR j) * exp (r (x0 + INR j))).
{ intro j. rewrite plus_INR. set (x := x0 + INR j). replace (INR k + INR j) with (x + j0) by (unfold x, x0; ring).
  unfold r, excess. assert (a := p_pos x). assert (b := cell_pos x).
  replace (ln (p x) - ln (cell x) - j0 * (2 * x + j0) / (2 * s2)) with (ln (p x) + - ln (cell x) + - (j0 * (2 * x + j0) / (2 * s2))) by ring.
  rewrite !exp_plus, exp_Ropp, !exp_ln by assumption.
  replace (cell x * (p x * / cell x * exp (- (j0 * (2 * x + j0) / (2 * s2))))) with (p x * exp (- (j0 * (2 * x + j0) / (2 * s2)))) by (field; lra).
  unfold p. rewrite Rmult_assoc, <- exp_plus. do 2 f_equal. field. lra. }
assert (light : p (INR k) <= cell x0).
{ destruct (Rle_or_lt X x0) as [h|h].
  - assert (N := no_heavy_cell (fun j => p (INR (k + j))) (fun j => cell (x0 + INR j)) r X x0 (fun j => cell_pos _) pq rc rX h).
    simpl in N. rewrite Nat.add_0_r, Rplus_0_r in N. apply N. intros eta e.
    destruct (far (x0 - / 2) eta e) as [n0 hn]. exists (S n0). split; [lia|]. rewrite sums_same, sum_minus, tail_sum, cell_sum.
    assert (a := hn (S n0) ltac:(lia)). assert (b := T_pos (k + S n0)). assert (t := z_tail k k1). rewrite x0d. lra.
  - assert (a := rle x0 x0p). assert (b := proj1 one_change x0 ltac:(lra)). assert (e := pq O).
    simpl in e. rewrite Nat.add_0_r, Rplus_0_r in e. rewrite e. assert (q := cell_pos x0).
    assert (rl : r x0 <= 0) by (apply Rle_trans with (excess x0); assumption).
    assert (exp (r x0) <= 1).
    { rewrite <- exp_0. destruct rl as [l|l]; [left; apply exp_increasing; exact l | right; f_equal; exact l]. }
    nra. }
unfold cell in light. rewrite x0d in light. replace ((x0 + / 2) * d) with (z k + d) in light by (rewrite <- x0d; field).
assert (t := z_tail k k1). assert (t' := z_tail (S k) ltac:(lia)). assert (n := T_next k).
assert (G (z k + d) <= G (z (S k))) by lra.
apply Rnot_lt_le. intro l. assert (g := G_falls (z k + d) (z (S k)) ltac:(lra)). lra.
Qed.
End Worst.
