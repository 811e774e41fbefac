(* Row 47: products of contrasts, and replace (workloads/residual.py, workloads/nested/strategy.py). Vectors are lists. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Implicit Types (a b c d : seq int).
Definition l1 a : int := \sum_(x <- a) `|x|.
Definition dot a b : int := \sum_(p <- zip a b) p.1 * p.2.
Definition kron a b : seq int := [seq x * y | x <- a, y <- b].
Lemma l1_kron a b : l1 (kron a b) = l1 a * l1 b.
Proof.
rewrite /l1 /kron big_allpairs_dep /= mulr_suml; apply: eq_bigr => x _.
by rewrite mulr_sumr; apply: eq_bigr => y _; rewrite normrM.
Qed.
Lemma dot_cat a b c d : size a = size c -> dot (a ++ b) (c ++ d) = dot a c + dot b d.
Proof. by move=> e; rewrite /dot zip_cat // big_cat. Qed.
Lemma dot_scale x y b d : dot (map ( *%R x) b) (map ( *%R y) d) = x * y * dot b d.
Proof.
rewrite /dot; elim: b d => [|u b ih] [|v d] /=; rewrite ?big_nil ?mulr0 // !big_cons ih /=; ring.
Qed.
Lemma dot_kron a b c d : size a = size c -> size b = size d -> dot (kron a b) (kron c d) = dot a c * dot b d.
Proof.
move=> + bd; elim: a c => [|x a ih] [|y c] //=; first by rewrite /dot /= !big_nil mul0r.
move=> [ac]; rewrite /kron /= dot_cat ?size_map // dot_scale; rewrite /kron in ih; rewrite ih //.
have -> : dot (x :: a) (y :: c) = x * y + dot a c by rewrite /dot /= big_cons.
by rewrite mulrDl.
Qed.
(* the contrasts n·I - 11^T of one key of n values, seen from value j *)
Definition contrast (n j : nat) : seq int := [seq n%:Z *+ (i == j) - 1 | i <- iota 0 n].
Lemma size_contrast n j : size (contrast n j) = n. Proof. by rewrite size_map size_iota. Qed.
Lemma contrast_sum n j (F : int -> int) : (j < n)%N ->
  \sum_(x <- contrast n j) F x = F (n%:Z - 1) + (n%:Z - 1) * F (- 1).
Proof.
move=> jn; rewrite /contrast big_map -{1}[n]subn0 -/(index_iota 0 n) big_mkord.
rewrite (bigD1 (Ordinal jn)) //= eqxx mulr1n; congr (_ + _).
rewrite (eq_bigr (fun=> F (- 1))); last by move=> i /negbTE; rewrite -val_eqE /= => ->; rewrite mulr0n sub0r.
rewrite sumr_const cardC1 card_ord -mulr_natl natz; congr (_ * _).
by case: n jn => // n _; rewrite /= -addn1 PoszD addrK.
Qed.
Lemma contrast_l1 n j : (j < n)%N -> l1 (contrast n j) = 2 * (n%:Z - 1).
Proof. by move=> jn; rewrite /l1 contrast_sum // normrN normr1 mulr1 ger0_norm; lia. Qed.
Lemma dot_map (f g : nat -> int) s : dot (map f s) (map g s) = \sum_(i <- s) f i * g i.
Proof. by rewrite /dot; elim: s => [|i s ih] /=; rewrite ?big_nil // !big_cons ih. Qed.
Lemma contrast_dot n j k : (j < n)%N -> (k < n)%N ->
  dot (contrast n j) (contrast n k) = if j == k then n%:Z * (n%:Z - 1) else - n%:Z.
Proof.
move=> jn kn; rewrite /contrast dot_map.
have h : \sum_(i <- iota 0 n) (n%:Z *+ (i == j) - 1) * (n%:Z *+ (i == k) - 1) =
   \sum_(i <- iota 0 n) (n%:Z ^+ 2 *+ ((i == j) && (i == k)) - n%:Z *+ (i == j) - n%:Z *+ (i == k) + 1).
  by apply: eq_bigr => i _; case: (i == j); case: (i == k); rewrite /= ?mulr1n ?mulr0n; ring.
have one (m : nat) (F : int) : (m < n)%N -> \sum_(i <- iota 0 n) F *+ (i == m) = F.
  move=> mn; rewrite (bigD1_seq m) ?mem_iota ?iota_uniq //= eqxx big1 ?addr0 // => i /negbTE ->; exact: mulr0n.
rewrite h !big_split /= !sumrN !one // big_const_seq count_predT size_iota iter_addr_0 natz.
case: eqP => [<-|ne].
  by rewrite (eq_bigr (fun i => n%:Z ^+ 2 *+ (i == j))) ?one // => [|i _]; [ring | rewrite andbb].
by rewrite big1 => [|i _]; [ring | case: eqP => //= ->; case: eqP].
Qed.
(* a cell of a table: its value in each key; the measured contrasts are the product over the keys *)
Fixpoint column (cell : seq (nat * nat)) : seq int :=
  if cell is (n, j) :: rest then kron (contrast n j) (column rest) else [:: 1].
Definition inside (cell : seq (nat * nat)) := all (fun p => p.2 < p.1)%N cell.
Lemma size_column cell cell' : map fst cell = map fst cell' -> size (column cell) = size (column cell').
Proof. by elim: cell cell' => [|[n j] s ih] [|[m k] t] //= [-> /ih e]; rewrite !size_allpairs !size_contrast e. Qed.
(* Δ1 = prod 2(n - 1), Δ2² = prod n(n - 1) *)
Theorem product_l1 cell : inside cell -> l1 (column cell) = \prod_(p <- cell) (2 * (p.1%:Z - 1)).
Proof.
elim: cell => [|[n j] s ih] /=; first by rewrite big_nil /l1 big_seq1 normr1.
by case/andP=> jn h; rewrite l1_kron contrast_l1 // ih // big_cons.
Qed.
Theorem product_l2 cell : inside cell -> dot (column cell) (column cell) = \prod_(p <- cell) (p.1%:Z * (p.1%:Z - 1)).
Proof.
elim: cell => [|[n j] s ih] /=; first by rewrite big_nil /dot big_seq1 mulr1.
by case/andP=> jn h; rewrite dot_kron // contrast_dot // eqxx ih // big_cons.
Qed.
Definition differ (p q : seq int) := [seq x.1 - x.2 | x <- zip p q].
Lemma differ_dot p q : size p = size q -> dot (differ p q) (differ p q) = dot p p + dot q q - 2 * dot p q.
Proof.
have cons x y (s t : seq int) : dot (x :: s) (y :: t) = x * y + dot s t by rewrite /dot /= big_cons.
elim: p q => [|x p ih] [|y q] //=; first by move=> _; rewrite /dot big_nil; ring.
by case=> e; rewrite /differ /= !cons /= -/(differ p q) ih //; ring.
Qed.
(* replace: of all pairs of cells none is further apart than 2 prod n(n-1) · m/(m-1), m the least size *)
Theorem product_replace (m : int) cell cell' : 2 <= m -> all (fun p => m <= p.1%:Z) cell ->
  map fst cell = map fst cell' -> inside cell -> inside cell' ->
  (m - 1) * dot (differ (column cell) (column cell')) (differ (column cell) (column cell')) <=
  2 * (\prod_(p <- cell) (p.1%:Z * (p.1%:Z - 1))) * m.
Proof.
move=> m2 big same i1 i2; rewrite differ_dot; last exact: size_column.
have p2 : \prod_(p <- cell') (p.1%:Z * (p.1%:Z - 1)) = \prod_(p <- cell) (p.1%:Z * (p.1%:Z - 1)).
  have e (s : seq (nat * nat)) : \prod_(p <- s) (p.1%:Z * (p.1%:Z - 1)) = \prod_(n <- map fst s) (n%:Z * (n%:Z - 1)).
    by rewrite big_map.
  by rewrite !e same.
rewrite product_l2 // product_l2 // p2; set S := \prod_(p <- cell) _.
have [S0 key] : 0 <= S /\ (dot (column cell) (column cell') = S \/ (m - 1) * `|dot (column cell) (column cell')| <= S).
  rewrite /S; elim: cell cell' big same i1 i2 {S p2} => [|[n j] s ih] [|[n' k] t] //=.
    by rewrite big_nil; split=> //; left; rewrite /dot big_seq1 mulr1.
  case/andP=> mn bs [<- st] /andP[jn is1] /andP[kn is2].
  have [S0 key] := ih t bs st is1 is2; rewrite big_cons dot_kron ?size_contrast ?contrast_dot //; last exact: size_column.
  set S := \prod_(p <- s) _ in S0 key *; set D := dot (column s) (column t) in key *.
  rewrite /= in mn; have n0 : 0 <= n%:Z * (n%:Z - 1) by rewrite mulr_ge0 //; lia.
  split; first by rewrite mulr_ge0.
  case: eqP => _; case: key => [->|key].
  - by left.
  - by right; rewrite normrM (ger0_norm n0) mulrCA; apply: ler_wpmul2l.
  - right; rewrite normrM normrN (ger0_norm S0) -[n%:Z * _ * S]mulrA mulrCA; apply: ler_wpmul2l => //.
    apply: ler_wpmul2r => //=; lia.
  - right; rewrite normrM normrN ger0_norm //; apply: le_trans (_ : n%:Z * S <= _).
      by rewrite mulrCA; apply: ler_wpmul2l.
    by rewrite /= -mulrA; apply: ler_wpmul2l => //; rewrite ler_pemull //; lia.
case: key => [->|key].
  have -> : (m - 1) * (S + S - 2 * S) = 0 by ring.
  by rewrite !mulr_ge0 //; lia.
have d : - (m - 1) * dot (column cell) (column cell') <= S.
  by apply: le_trans key; rewrite mulNr -mulrN; apply: ler_wpmul2l; [lia | rewrite -normrN ler_norm].
move: d; move: (dot (column cell) (column cell')) => D d.
rewrite -subr_ge0; have -> : 2 * S * m - (m - 1) * (S + S - 2 * D) = 2 * (S - - (m - 1) * D) by ring.
by rewrite mulr_ge0 // subr_ge0.
Qed.
