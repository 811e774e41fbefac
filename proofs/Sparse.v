(* Sparse vector, sums of noise over all integers, vectors of noise, matrix strategies. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* S1 above-threshold (mechanisms/adaptive/sparse_vector.py): `mean` is the sum over all integers of threshold noise, any
   positive, homogeneous functional that does not feel a shift by d. below i x and above x: the chance that query i stays
   below, the last one comes above, when the noisy threshold's noise is x. *)
Section Sparse.
Variables (R : realFieldType) (ok : (int -> R) -> Prop) (mean : (int -> R) -> R) (d : int).
(* ok: absolutely summable. (On *all* functions there is no such sum but 0: 2^x would have to be twice itself.) *)
Hypothesis ok_scale : forall c f, ok f -> ok (fun x => c * f x).
Hypothesis ok_shift : forall f, ok f -> ok (fun x => f (x + d)).
Hypothesis mean_mono : forall f g, ok g -> (forall x, 0 <= f x <= g x) -> mean f <= mean g.
Hypothesis mean_scale : forall c f, ok f -> mean (fun x => c * f x) = c * mean f.
Hypothesis mean_shift : forall f, ok f -> mean (fun x => f (x + d)) = mean f.
Theorem above_threshold (n : nat) (noise : int -> R) (below below' : 'I_n -> int -> R) (above above' : int -> R) (a b : R) :
  0 <= a -> 0 <= b -> ok (fun x => noise x * (\prod_i below' i x) * above' x) ->
  (forall x, 0 <= noise x) -> (forall i x, 0 <= below i x) -> (forall x, 0 <= above x) ->
  (forall x, noise x <= a * noise (x + d)) ->                 (* threshold noise moved by the sensitivity *)
  (forall i x, below i x <= below' i (x + d)) ->              (* D' moves every query by at most d *)
  (forall x, above x <= b * above' (x + d)) ->                (* query noise moved by twice the sensitivity *)
  mean (fun x => noise x * (\prod_i below i x) * above x) <= a * b * mean (fun x => noise x * (\prod_i below' i x) * above' x).
Proof.
move=> a0 b0 okf n0 w0 v0 hn hw hv.
rewrite -(mean_shift okf) -mean_scale; last exact: (ok_shift okf).
apply: mean_mono => [|x]; first exact/ok_scale/(ok_shift okf).
have p0 : 0 <= \prod_i below i x by apply: prodr_ge0.
rewrite !mulr_ge0 //=.
have -> : a * b * (noise (x + d) * (\prod_i below' i (x + d)) * above' (x + d)) =
   (a * noise (x + d)) * (\prod_i below' i (x + d)) * (b * above' (x + d)) by ring.
apply: ler_pmul => //; first by rewrite mulr_ge0.
apply: ler_pmul => //; apply: ler_prod => i _; by rewrite w0 hw.
Qed.
End Sparse.

(* S2 noise on a vector: ratios multiply, so the L1 distance counts (mechanisms/additive/discrete_laplace.py) *)
Theorem laplace_vector (R : realFieldType) (n : nat) (q : R) (x y : 'I_n -> int) (D : nat) : 0 < q <= 1 ->
  (\sum_i `|x i - y i|%N <= D)%N -> (\prod_i q ^+ `|x i|%N) * q ^+ D <= \prod_i q ^+ `|y i|%N.
Proof.
move=> /andP[q0 q1] h; rewrite -!expr_sum -exprD; apply: ler_wiexpn2l => //; first exact: ltW.
apply: leq_trans (leq_add (leqnn _) h); rewrite -big_split /=; apply: leq_sum => i _.
rewrite -lez_nat PoszD !abszE; have e : y i = x i - (x i - y i) by rewrite opprB addrC subrK.
by rewrite {1}e; exact: ler_norm_sub.
Qed.

(* S3 an integer strategy A: one unit in one cell moves it by a column, replaced by two (workloads/matrix.py, change.py) *)
Section Strategy.
Variables (m n : nat) (A : 'M[int]_(m, n)).
Definition l1 (v : 'cV[int]_m) : int := \sum_i `|v i 0|.
Definition column_l1 j : int := \sum_i `|A i j|.
Lemma mul_delta j : A *m delta_mx j 0 = col j A :> 'cV_m. Proof. by rewrite -colE. Qed.
Theorem strategy_add j (x : 'cV[int]_n) : l1 (A *m (x + delta_mx j 0) - A *m x) = column_l1 j.
Proof. by rewrite mulmxDr addrC addKr mul_delta; apply: eq_bigr => i _; rewrite mxE. Qed.
Theorem strategy_units (x : 'cV[int]_n) (b : int) : 0 <= b -> (forall j, column_l1 j <= b) ->
  l1 (A *m x) <= b * \sum_j `|x j 0|.
Proof.
move=> b0 h; apply: (@le_trans _ _ (\sum_i \sum_j `|A i j| * `|x j 0|)).
  apply: ler_sum => i _; rewrite mxE; apply: le_trans (ler_norm_sum _ _ _) _.
  by apply: ler_sum => j _; rewrite normrM.
rewrite exchange_big /= mulr_sumr; apply: ler_sum => j _; rewrite -mulr_suml.
by apply: ler_wpmul2r (h j).
Qed.
(* whole numbers: a table times 2^k, or any integer grid, has the same ratio of sensitivity to noise *)
Theorem strategy_scaled (k : int) j : \sum_i `|(k *: A) i j| = `|k| * column_l1 j.
Proof. by rewrite mulr_sumr; apply: eq_bigr => i _; rewrite mxE normrM. Qed.
End Strategy.
(* S4 contrasts n·I − 11ᵀ (workloads/residual.py): a column has L2² = n(n−1), L1 = 2(n−1) *)
Theorem contrast_l2 (n : nat) (j : 'I_n.+1) :
  \sum_(i < n.+1) ((n.+1%:Z *+ (i == j) - 1) ^+ 2) = n.+1%:Z * n%:Z.
Proof.
rewrite (bigD1 j) //= eqxx mulr1n (eq_bigr (fun=> 1)) => [|i /negbTE ->]; last by rewrite mulr0n sub0r sqrrN expr1n.
rewrite sumr_const cardC1 card_ord /= -[n.+1]addn1 PoszD natz addrK; ring.
Qed.
Theorem contrast_l1 (n : nat) (j : 'I_n.+1) : \sum_(i < n.+1) `|n.+1%:Z *+ (i == j) - 1| = n%:Z + n%:Z.
Proof.
rewrite (bigD1 j) //= eqxx mulr1n (eq_bigr (fun=> 1)) => [|i /negbTE ->]; last by rewrite mulr0n sub0r normrN normr1.
by rewrite sumr_const cardC1 card_ord /= -[n.+1]addn1 PoszD natz addrK ger0_norm.
Qed.
