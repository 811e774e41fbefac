(* One crossing, equal totals: the tails of p are the heavier ones, so z_k <= (k - 1/2) d (privacy/pricing/gdp.py). *)
Require Import Reals Lra Lia.
Local Open Scope R_scope.
Fixpoint sum (f : nat -> R) n := match n with O => 0 | S m => sum f m + f m end.
Lemma sum_grows D K k n : (forall j, (K <= j)%nat -> 0 <= D j) -> (K <= k)%nat -> (k <= n)%nat -> sum D k <= sum D n.
Proof. intros h Kk kn. induction kn as [|n kn ih]; [lra|]. simpl. assert (a := h n ltac:(lia)). lra. Qed.
Lemma sum_neg D K k : (forall j, (j < K)%nat -> D j <= 0) -> (k <= K)%nat -> sum D k <= 0.
Proof. intros h. induction k as [|k ih]; intro kK; [simpl; lra|]. simpl. assert (a := h k ltac:(lia)). assert (b := ih ltac:(lia)). lra. Qed.
Theorem one_crossing D K : (forall j, (j < K)%nat -> D j <= 0) -> (forall j, (K <= j)%nat -> 0 <= D j) ->
  (forall eta, 0 < eta -> exists N, forall n, (N <= n)%nat -> sum D n <= eta) -> forall k, sum D k <= 0.
Proof.
intros neg pos lim k. destruct (le_lt_dec k K) as [h|h]; [exact (sum_neg D K k neg h)|].
apply Rnot_lt_le. intro c. destruct (lim (sum D k / 2)) as [N hN]; [lra|].
assert (a := hN (max N k) ltac:(lia)). assert (b := sum_grows D K k (max N k) pos ltac:(lia) ltac:(lia)). lra.
Qed.
