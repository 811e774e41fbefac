(* Samplers: noise/exact_search.py, and whole-number rules of learn/. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Row 44: lazy comparison. U is known to lie in [start, end) and each threshold t in [low, high], all in units of 2^-precision;
   gap is `gap_of`: what it decides is what U and the thresholds themselves decide, whatever bits are still unread. *)
Section Lazy.
Variable R : realFieldType.
Fixpoint gap (start stop : int) (bounds : seq (int * int)) (index : nat) : option nat :=
  if bounds is (low, high) :: rest then
    if stop <= low then Some index else if start < high then None else gap start stop rest index.+1
  else None.
Definition encloses (t : R) (b : int * int) := b.1%:~R <= t <= b.2%:~R.
Lemma gap_count (U : R) start stop ts bounds i k : start%:~R <= U < stop%:~R -> all2 encloses ts bounds ->
  sorted <=%R ts -> gap start stop bounds i = Some k -> k = (i + count (fun t => (t <= U)%R) ts)%N.
Proof.
move=> /andP[lo hi]; elim: ts bounds i => [|t ts ih] [|[low high] bs] i //= /andP[/andP[tl th] rest] srt.
have srt' : sorted <=%R ts := path_sorted srt.
case: ifP => [h [<-]|h].
  have Ut : U < t by apply: lt_le_trans hi _; apply: le_trans tl; rewrite ler_int.
  rewrite leNgt Ut /= (_ : count _ _ = 0%N) ?addn0 //; apply/eqP; rewrite -leqn0 leqNgt -has_count.
  apply/hasPn => x xs; rewrite -ltNge; apply: lt_le_trans Ut _.
  by move: srt; rewrite (path_sortedE le_trans) => /andP[/allP/(_ x xs)].
case: ifP => // h' g; have tU : t <= U.
  by apply: le_trans th _; apply: le_trans lo; rewrite ler_int leNgt h'.
by rewrite tU add1n addnS -addSn; exact: ih g.
Qed.
Theorem lazy_comparison (U : R) start stop ts bounds k : start%:~R <= U < stop%:~R -> all2 encloses ts bounds ->
  sorted <=%R ts -> gap start stop bounds 0 = Some k -> k = count (fun t => (t <= U)%R) ts.
Proof. exact: gap_count. Qed.
(* more bits keep U where it was: word * 2^s + drawn, one of 2^s equal cells *)
Theorem more_bits (U : R) (word drawn : int) (s : nat) : 0 <= drawn < 2 ^+ s ->
  (word * 2 ^+ s + drawn)%:~R <= U * 2 ^+ s < (word * 2 ^+ s + drawn + 1)%:~R -> word%:~R <= U < (word + 1)%:~R.
Proof.
move=> /andP[d0 d1] /andP[lo hi]; have p0 : 0 < 2 ^+ s :> R by rewrite exprn_gt0 // ltr0n.
have e (x : int) : (x * 2 ^+ s)%:~R = x%:~R * 2 ^+ s :> R by rewrite intrM rmorphX.
apply/andP; split.
  by rewrite -(ler_pmul2r p0) -e; apply: le_trans lo; rewrite ler_int ler_addl.
rewrite -(ltr_pmul2r p0) -e; apply: lt_le_trans hi _; rewrite ler_int; move: d1; move: (2 ^+ s) => m; lia.
Qed.
End Lazy.

(* Row 52: second moments. An off-diagonal pair is released once, times 1393/985 <= sqrt 2 (learn/training/gram.py) *)
Section Moments.
Variable n : nat.
Implicit Types (z y : 'I_n -> int) (d : 'I_n -> 'I_n -> int).
Variables (along across : int).
Hypothesis below_sqrt2 : across ^+ 2 <= along ^+ 2 * 2.
Definition norm2 z : int := \sum_i z i ^+ 2.
Definition released d : int := \sum_(i < n) \sum_(j < n | (i <= j)%N) ((if i == j then along else across) * d i j) ^+ 2.
Lemma isometry d : (forall i j, d i j = d j i) -> released d <= along ^+ 2 * \sum_i \sum_j d i j ^+ 2.
Proof.
move=> sym.
have up : \sum_i \sum_j d i j ^+ 2 = \sum_(i < n) \sum_(j < n | (i <= j)%N) (if i == j then 1 else 2) * d i j ^+ 2.
  have sp : \sum_i \sum_j d i j ^+ 2 = \sum_(i < n) \sum_(j < n | (i <= j)%N) d i j ^+ 2 + \sum_(i < n) \sum_(j < n | (j < i)%N) d i j ^+ 2.
    by rewrite -big_split /=; apply: eq_bigr => i _; rewrite (bigID (fun j : 'I_n => (i <= j)%N)) /=; congr (_ + _);
       apply: eq_bigl => j; rewrite -ltnNge.
  rewrite sp [X in _ + X](exchange_big_dep xpredT) //= -big_split /=; apply: eq_bigr => i _.
  rewrite (bigD1 i) //= [RHS](bigD1 i) //= eqxx mul1r -addrA; congr (_ + _).
  rewrite [X in _ + X](eq_bigl (fun j : 'I_n => (i <= j)%N && (j != i))); last first.
    by move=> j; rewrite ltn_neqAle andbC -val_eqE eq_sym.
  rewrite -big_split /=; apply: eq_bigr => j /andP[_ ne].
  by rewrite [d j i]sym eq_sym (negbTE ne) mulr_natl mulr2n.
rewrite up mulr_sumr /released; apply: ler_sum => i _; rewrite mulr_sumr; apply: ler_sum => j _.
case: (i == j); first by rewrite exprMn mul1r.
rewrite exprMn mulrA; apply: ler_wpmul2r; [exact: sqr_ge0 | exact: below_sqrt2].
Qed.
Lemma outer_norm z : \sum_i \sum_j (z i * z j) ^+ 2 = norm2 z ^+ 2.
Proof.
rewrite expr2 {1}/norm2 mulr_suml; apply: eq_bigr => i _.
by rewrite /norm2 mulr_sumr; apply: eq_bigr => j _; rewrite exprMn.
Qed.
(* a row z = (x, y) with |x|^2 + |y|^2 <= b moves what is released by at most 985 b *)
Theorem moments_move z (b : int) : norm2 z <= b -> released (fun i j => z i * z j) <= (along * b) ^+ 2.
Proof.
move=> zb; apply: le_trans (isometry _) _ => [i j|]; first exact: mulrC.
rewrite outer_norm exprMn; apply: ler_wpmul2l; first exact: sqr_ge0.
by rewrite ler_expn2r // nnegrE ?sumr_ge0 ?(le_trans _ zb) // => [i _|]; rewrite ?sqr_ge0 // sumr_ge0 // => i _; rewrite sqr_ge0.
Qed.
(* exchanged for another row: twice the square, as the inner product of squares is not negative *)
Theorem moments_replace z y (b : int) : norm2 z <= b -> norm2 y <= b ->
  released (fun i j => z i * z j - y i * y j) <= 2 * (along * b) ^+ 2.
Proof.
move=> zb yb; apply: le_trans (isometry _) _ => [i j|]; first by rewrite [z i * _]mulrC [y i * _]mulrC.
have b0 : 0 <= b by apply: le_trans zb; rewrite sumr_ge0 // => i _; rewrite sqr_ge0.
have cross : \sum_i \sum_j (z i * z j) * (y i * y j) = (\sum_i z i * y i) ^+ 2.
  rewrite expr2 mulr_suml; apply: eq_bigr => i _; rewrite mulr_sumr; apply: eq_bigr => j _; ring.
have -> : \sum_i \sum_j (z i * z j - y i * y j) ^+ 2 = norm2 z ^+ 2 + norm2 y ^+ 2 - 2 * (\sum_i z i * y i) ^+ 2.
  rewrite -!outer_norm -cross mulr_sumr -big_split -sumrB /=; apply: eq_bigr => i _.
  by rewrite mulr_sumr -big_split -sumrB /=; apply: eq_bigr => j _; ring.
have sq (x : 'I_n -> int) : norm2 x <= b -> norm2 x ^+ 2 <= b ^+ 2.
  by move=> h; rewrite ler_expn2r // nnegrE // sumr_ge0 // => i _; rewrite sqr_ge0.
rewrite exprMn [X in _ <= X]mulrCA; apply: ler_wpmul2l; first exact: sqr_ge0.
apply: le_trans (_ : b ^+ 2 + b ^+ 2 <= _); last by rewrite mulr_natl mulr2n.
rewrite ler_subl_addr; apply: le_trans (ler_add (sq _ zb) (sq _ yb)) _.
by rewrite ler_addl mulr_ge0 // sqr_ge0.
Qed.
(* whole-number clipping: entries scaled by p/q and rounded towards zero, p^2 |x|^2 <= q^2 b: the norm holds in integers *)
Theorem whole_clipping z y (p q b : int) : 0 < q -> (forall i, q * `|y i| <= p * `|z i|) ->
  p ^+ 2 * norm2 z <= q ^+ 2 * b -> norm2 y <= b.
Proof.
move=> q0 h zb; have qq : 0 < q ^+ 2 by rewrite exprn_gt0.
rewrite -(ler_pmul2l qq); apply: le_trans zb; rewrite /norm2 !mulr_sumr; apply: ler_sum => i _.
rewrite -!exprMn -[(q * y i) ^+ 2]ger0_norm ?sqr_ge0 // -[(p * z i) ^+ 2]ger0_norm ?sqr_ge0 // !normrX.
apply: ler_expn2r; rewrite ?nnegrE ?normr_ge0 // !normrM (ger0_norm (ltW q0)).
by apply: le_trans (h i) _; rewrite ler_wpmul2r // ler_norm.
Qed.
End Moments.
(* the factors of learn/training/gram.py *)
Require Import ZArith.
Definition ALONG : Z := 985%Z.
Definition ACROSS : Z := 1393%Z.
Theorem factors_below_sqrt2 : (ACROSS ^ 2 <= ALONG ^ 2 * 2)%Z.
Proof. by []. Qed.
