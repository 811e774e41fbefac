(* What one unit can move: query/bounds/sensitivity.py, statistics/releases/partition.py, mechanisms/reading/steps.py *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Section Totals.
Variable K : finType.            (* the keys *)
Definition vec := K -> int.
Definition l1 (v : vec) : int := \sum_k `|v k|.
Definition sq (v : vec) : int := \sum_k (v k) ^+ 2.

(* rows (key, what it adds); one unit's totals *)
Definition totals (rows : seq (K * int)) : vec := fun k => \sum_(x <- rows | x.1 == k) x.2.

Lemma l1_totals rows : l1 (totals rows) <= \sum_(x <- rows) `|x.2|.
Proof.
rewrite /l1 /totals; apply: (@le_trans _ _ (\sum_k \sum_(x <- rows | x.1 == k) `|x.2|)).
  by apply: ler_sum => k _; exact: ler_norm_sum.
rewrite (exchange_big_dep xpredT) //=; apply: ler_sum => x _.
by rewrite (big_pred1 x.1) // => k; rewrite eq_sym.
Qed.

(* T1 Free(m): at most m rows, each at most c *)
Theorem free_l1 rows (m : nat) (c : int) : (size rows <= m)%N -> 0 <= c ->
  all (fun x => `|x.2| <= c) rows -> l1 (totals rows) <= m%:Z * c.
Proof.
move=> sz c0 /allP ok; apply: le_trans (l1_totals rows) _.
apply: (@le_trans _ _ (\sum_(x <- rows) c)).
  by rewrite !big_seq; apply: ler_sum => x /ok.
rewrite big_const_seq count_predT iter_addr_0 -mulr_natl; apply: ler_wpmul2r => //.
by rewrite natz lez_nat.
Qed.

(* T2 RowShare(r): n rows, each shrunk to at most r/n of c, whatever the floors did *)
Theorem row_share_l1 rows (r : nat) (c : int) : 0 <= c -> rows != [::] ->
  all (fun x => (size rows)%:Z * `|x.2| <= r%:Z * c) rows -> l1 (totals rows) <= r%:Z * c.
Proof.
move=> c0 ne /allP ok; apply: le_trans (l1_totals rows) _.
have n0 : 0 < (size rows)%:Z by rewrite ltz_nat lt0n size_eq0.
rewrite -(ler_pmul2l n0) mulr_sumr.
apply: (@le_trans _ _ (\sum_(x <- rows) (r%:Z * c))).
  by rewrite !big_seq; apply: ler_sum => x /ok.
by rewrite big_const_seq count_predT iter_addr_0 -mulr_natl natz.
Qed.

(* T3 GroupShare(g, r): m keys, in each at most min(1, g/m) of b = r·c *)
Definition shared (g : nat) (b : int) (v : vec) (m : nat) :=
  [/\ (#|[pred k | v k != 0]| <= m)%N, 0 <= b & forall k, (m%:Z * `|v k| <= g%:Z * b) /\ `|v k| <= b].
Lemma norm_off (v : vec) : l1 v = \sum_(k | v k != 0) `|v k|.
Proof.
rewrite /l1 [RHS]big_mkcond; apply: eq_bigr => k _; case: eqP => // ->; by rewrite normr0.
Qed.
Theorem group_share_l1 g b v m : shared g b v m -> l1 v <= g%:Z * b.
Proof.
case=> sz b0 ok; have gb0 : 0 <= g%:Z * b by rewrite mulr_ge0.
case: (posnP m) => [m0|m0].
  have z k : v k == 0 by move: sz; rewrite m0 leqn0 => /eqP/card0_eq/(_ k); rewrite inE => /negbFE.
  by rewrite /l1 big1 // => k _; rewrite (eqP (z k)) normr0.
have mz : 0 < m%:Z by rewrite ltz_nat.
rewrite -(ler_pmul2l mz) norm_off mulr_sumr.
apply: (@le_trans _ _ (\sum_(k | v k != 0) (g%:Z * b))); first by apply: ler_sum => k _; case: (ok k).
rewrite sumr_const -mulr_natl; apply: ler_wpmul2r => //; by rewrite natz lez_nat.
Qed.
Theorem group_share_l2 g b v m : shared g b v m -> sq v <= g%:Z * b ^+ 2.
Proof.
move=> sh; have [sz b0 ok] := sh; apply: (@le_trans _ _ (b * l1 v)).
  rewrite /sq /l1 mulr_sumr; apply: ler_sum => k _.
  have [_ h] := ok k; rewrite -[_ ^+ 2]ger0_norm ?sqr_ge0 // normrX expr2; exact: ler_wpmul2r.
rewrite expr2 mulrCA; apply: ler_wpmul2l => //; exact: group_share_l1 sh.
Qed.
Theorem group_share_linf g b v m k : shared g b v m -> `|v k| <= b.
Proof. by case=> _ _ /(_ k) []. Qed.

(* neighbours: a table is a sequence of units; one comes or goes anywhere, or is exchanged *)
Definition sum_of (units : seq vec) : vec := fun k => \sum_(u <- units) u k.
Theorem add_remove_l1 us u vs : l1 (fun k => sum_of (us ++ u :: vs) k - sum_of (us ++ vs) k) = l1 u.
Proof.
by apply: eq_bigr => k _; rewrite /sum_of !big_cat big_cons /= opprD addrACA subrr add0r addrK.
Qed.
Theorem replace_l1 us u w vs b : l1 u <= b -> l1 w <= b ->
  l1 (fun k => sum_of (us ++ u :: vs) k - sum_of (us ++ w :: vs) k) <= b + b.
Proof.
move=> hu hw; apply: le_trans (ler_add hu hw); rewrite /l1 -big_split /=; apply: ler_sum => k _.
rewrite /sum_of !big_cat !big_cons /= opprD addrACA subrr add0r opprD addrACA subrr addr0.
by apply: le_trans (ler_norm_add _ _) _; rewrite normrN.
Qed.
(* both units clipped to low..high in one key: replace moves it by the width *)
Theorem replace_width (x y low high : int) : low <= x <= high -> low <= y <= high -> `|x - y| <= high - low.
Proof. by lia. Qed.
End Totals.

(* T: totals rounded down to a coarser grid after they were added up (partition.py) *)
Theorem rounded_down (a b q : int) : 0 < q -> q * `|(a %/ q)%Z - (b %/ q)%Z| <= `|a - b| + (q - 1).
Proof.
move=> q0; have ha := divz_eq a q; have hb := divz_eq b q.
have a0 := modz_ge0 a (lt0r_neq0 q0); have b0 := modz_ge0 b (lt0r_neq0 q0).
have a1 := ltz_pmod a q0; have b1 := ltz_pmod b q0.
move: ha hb a0 b0 a1 b1; set x := (a %/ q)%Z; set y := (b %/ q)%Z; set r := (a %% q)%Z; set s := (b %% q)%Z.
move=> ha hb a0 b0 a1 b1; nia.
Qed.
(* T: a partition of unity: what a row adds to all totals together is S^d, whatever its value *)
Theorem bernstein (S u : int) (d : nat) : \sum_(i < d.+1) (u ^+ i * (S - u) ^+ (d - i)) *+ 'C(d, i) = S ^+ d.
Proof.
rewrite -[in RHS](subrK u S) exprDn; apply: eq_bigr => i _; by rewrite mulrC.
Qed.
Theorem bernstein_l1 (S u : int) (d : nat) : 0 <= u <= S ->
  \sum_(i < d.+1) `|(u ^+ i * (S - u) ^+ (d - i)) *+ 'C(d, i)| = S ^+ d.
Proof.
case/andP=> u0 uS; rewrite -(bernstein S u d); apply: eq_bigr => i _.
by rewrite ger0_norm // mulrn_wge0 // mulr_ge0 // exprn_ge0 // subr_ge0.
Qed.

(* Row 24: replace, t shared keys: t·r·w + 2(g - t)·r·c and its squares (query/bounds/sensitivity._met_corners, q = 0) *)
Section Replace.
Variable K : finType.
Variables (u v : K -> int) (A B : {set K}) (g : nat) (r low high c : int).
Hypothesis r0 : 0 <= r.
Hypothesis bounds : low <= 0 <= high.
Hypothesis cap : -low <= c /\ high <= c.
Hypothesis u_in : forall k, r * low <= u k <= r * high.
Hypothesis v_in : forall k, r * low <= v k <= r * high.
Hypothesis u_off : forall k, k \notin A -> u k = 0.
Hypothesis v_off : forall k, k \notin B -> v k = 0.
Hypothesis A_small : (#|A| <= g)%N.
Hypothesis B_small : (#|B| <= g)%N.
Lemma both k : `|u k - v k| <= r * (high - low).
Proof. by have := u_in k; have := v_in k; rewrite mulrBr; lia. Qed.
Lemma own (w : K -> int) k : r * low <= w k <= r * high -> `|w k| <= r * c.
Proof.
have [h1 h2] := cap; have a := ler_wpmul2l r0 h1; have b := ler_wpmul2l r0 h2.
by move: a b; rewrite mulrN; lia.
Qed.
Lemma split_sum (f : K -> int) (x y : int) : (forall k, 0 <= f k) -> 0 <= y ->
  (forall k, k \in A :&: B -> f k <= x) -> (forall k, k \in (A :\: B) :|: (B :\: A) -> f k <= y) ->
  (forall k, k \notin A -> k \notin B -> f k = 0) ->
  \sum_k f k <= #|A :&: B|%:Z * x + (2 * (g%:Z - #|A :&: B|%:Z)) * y.
Proof.
move=> f0 y0 hx hy h0.
rewrite (bigID (fun k => k \in A :&: B)) /= ; apply: ler_add.
  apply: (@le_trans _ _ (\sum_(k in A :&: B) x)); first by apply: ler_sum.
  by rewrite sumr_const -mulr_natl natz.
rewrite (bigID (fun k => k \in (A :\: B) :|: (B :\: A))) /= [X in _ + X]big1 ?addr0; last first.
  move=> k /andP[]; rewrite !inE => n1 n2; apply: h0; move: n1 n2; by case: (k \in A); case: (k \in B).
apply: (@le_trans _ _ (\sum_(k in (A :\: B) :|: (B :\: A)) y)).
  rewrite [X in X <= _](eq_bigl (fun k => k \in (A :\: B) :|: (B :\: A))); first by apply: ler_sum.
  by move=> k; rewrite !inE; case: (k \in A); case: (k \in B).
rewrite sumr_const -mulr_natl; apply: ler_wpmul2r => //.
have dis : [disjoint A :\: B & B :\: A].
  by rewrite -setI_eq0; apply/eqP/setP => k; rewrite !inE; case: (k \in A); case: (k \in B).
rewrite cardsU (_ : (A :\: B) :&: (B :\: A) = set0); last by apply/eqP; rewrite setI_eq0.
rewrite cards0 subn0 !cardsD [B :&: A]setIC natz.
have := subset_leq_card (subsetIl A B); have := subset_leq_card (subsetIr A B).
by move: A_small B_small; lia.
Qed.
Theorem replace_shared_l1 : \sum_k `|u k - v k| <=
  #|A :&: B|%:Z * (r * (high - low)) + (2 * (g%:Z - #|A :&: B|%:Z)) * (r * c).
Proof.
have rc0 : 0 <= r * c by rewrite mulr_ge0 //; move: cap bounds; lia.
apply: split_sum => // [k _|k|k na nb]; first exact: both.
  rewrite !inE => /orP[/andP[nb _]|/andP[na _]].
    by rewrite (v_off nb) subr0; exact: own.
  by rewrite (u_off na) sub0r normrN; exact: own.
by rewrite (u_off na) (v_off nb) subr0 normr0.
Qed.
Lemma sqr_le (x y : int) : `|x| <= y -> x ^+ 2 <= y ^+ 2.
Proof. by move=> h; rewrite -[x ^+ 2]ger0_norm ?sqr_ge0 // normrX !expr2; apply: ler_pmul. Qed.
Theorem replace_shared_l2 : \sum_k (u k - v k) ^+ 2 <=
  #|A :&: B|%:Z * (r * (high - low)) ^+ 2 + (2 * (g%:Z - #|A :&: B|%:Z)) * (r * c) ^+ 2.
Proof.
apply: split_sum => [k||k _|k|k na nb]; rewrite ?sqr_ge0 //; first by apply: sqr_le; exact: both.
  rewrite !inE => /orP[/andP[nb _]|/andP[na _]].
    by rewrite (v_off nb) subr0; apply: sqr_le; exact: own.
  by rewrite (u_off na) sub0r sqrrN; apply: sqr_le; exact: own.
by rewrite (u_off na) (v_off nb) subr0 expr0n.
Qed.
End Replace.

(* Row 27: several columns: all products of their bases add up to the product of their sums *)
Section Tensor.
Variables (n D : nat) (S u : 'I_n -> int) (d : 'I_n -> nat).
Hypothesis uS : forall j, 0 <= u j <= S j.
Hypothesis dD : forall j, (d j <= D)%N.
Definition basis (j : 'I_n) (i : 'I_D.+1) : int := (u j ^+ i * (S j - u j) ^+ (d j - i)) *+ 'C(d j, i).
Lemma basis_sum j : \sum_i `|basis j i| = S j ^+ d j.
Proof.
rewrite -(bernstein_l1 (d j) (uS j)) /basis.
rewrite [RHS](big_ord_widen D.+1 (fun i => `|(u j ^+ i * (S j - u j) ^+ (d j - i)) *+ 'C(d j, i)|)) ?ltnS //=.
rewrite [RHS]big_mkcond /=; apply: eq_bigr => i _; rewrite ltnS; case: leqP => // lt.
by rewrite bin_small // mulr0n normr0.
Qed.
Theorem tensor_l1 : \sum_(f : {ffun 'I_n -> 'I_D.+1}) `|\prod_j basis j (f j)| = \prod_j S j ^+ d j.
Proof.
transitivity (\prod_j \sum_i `|basis j i|); last by apply: eq_bigr => j _; exact: basis_sum.
by rewrite bigA_distr_bigA /=; apply: eq_bigr => f _; rewrite normr_prod.
Qed.
End Tensor.

(* Row 28: joins of one person's rows. A relation over rows T; the fan-out is the bound of query/bounds/fanout.py *)
Section Joins.
Variable T : Type.
Inductive relation :=
| Scan of nat & seq T                           (* a person's rows, cut to k = max_rows by any rule *)
| Where of pred T & relation
| Select of (T -> T) & relation
| JoinPublic of nat & (T -> seq T) & relation   (* each row matches at most m public rows *)
| JoinPeople of (T -> T -> option T) & relation & relation
| OuterJoin of (T -> T -> option T) & relation & relation  (* a row without a match is kept once *)
| Union of relation & relation
| PerPerson of (seq T -> T) & relation.
Fixpoint fan_out r := match r with
| Scan k _ => k | Where _ r | Select _ r => fan_out r | JoinPublic m _ r => (fan_out r * m)%N
| JoinPeople _ r s => (fan_out r * fan_out s)%N | OuterJoin _ r s => (fan_out r * maxn 1 (fan_out s))%N
| Union r s => (fan_out r + fan_out s)%N | PerPerson _ r => 1%N end.
Fixpoint stated r : Prop := match r with
| Scan k rows => (size rows <= k)%N
| Where _ r | Select _ r | PerPerson _ r => stated r
| JoinPublic m f r => stated r /\ forall x, (size (f x) <= m)%N
| JoinPeople _ r s | OuterJoin _ r s | Union r s => stated r /\ stated s end.
Fixpoint rows_of r : seq T := match r with
| Scan _ rows => rows | Where p r => filter p (rows_of r) | Select f r => map f (rows_of r)
| JoinPublic _ f r => flatten (map f (rows_of r))
| JoinPeople f r s => flatten (map (fun x => pmap (f x) (rows_of s)) (rows_of r))
| OuterJoin f r s =>
    flatten (map (fun x => if pmap (f x) (rows_of s) is y :: ys then y :: ys else [:: x]) (rows_of r))
| Union r s => rows_of r ++ rows_of s
| PerPerson f r => if rows_of r is x :: xs then [:: f (x :: xs)] else [::] end.
Lemma size_flatten_le (f : T -> seq T) rows m : (forall x, (size (f x) <= m)%N) -> (size (flatten (map f rows)) <= size rows * m)%N.
Proof. by move=> h; elim: rows => //= x rows ih; rewrite size_cat mulSn leq_add. Qed.
Theorem joins r : stated r -> (size (rows_of r) <= fan_out r)%N.
Proof.
elim: r => //=.
- by move=> p r ih /ih; apply: leq_trans; rewrite size_filter count_size.
- by move=> f r ih /ih; rewrite size_map.
- by move=> m f r ih [/ih h hm]; apply: leq_trans (size_flatten_le _ hm) _; rewrite leq_mul2r h orbT.
- move=> f r ihr s ihs [/ihr hr /ihs hs]; apply: leq_trans (size_flatten_le _ _) _; last exact: leq_mul hr (leqnn _).
  by move=> x; rewrite size_pmap; apply: leq_trans (count_size _ _) _; rewrite ?size_map.
- move=> f r ihr s ihs [/ihr hr /ihs hs]; apply: leq_trans (size_flatten_le _ _) _; last exact: leq_mul hr (leqnn _).
  move=> x; have : (size (pmap (f x) (rows_of s)) <= fan_out s)%N.
    by rewrite size_pmap; apply: leq_trans (count_size _ _) _; rewrite ?size_map.
  by case: (pmap _ _) => [|y ys] h /=; rewrite leq_max // h orbT.
- by move=> r ihr s ihs [/ihr hr /ihs hs]; rewrite size_cat leq_add.
- by move=> f r _ _; case: (rows_of r).
Qed.
End Joins.

(* Rows 28 and 29: whatever cuts, weighs or keeps one person's rows, and whatever the salt of its hash: as long as it is a map
   of that person's rows alone, one person more moves the totals by that person's own totals *)
Theorem per_person (K : finType) (Person Salt : Type) (kept : Salt -> Person -> K -> int) salt us (x : Person) vs :
  l1 (fun k => sum_of (map (kept salt) (us ++ x :: vs)) k - sum_of (map (kept salt) (us ++ vs)) k) = l1 (kept salt x).
Proof. by rewrite !map_cat /=; exact: add_remove_l1. Qed.
Section KeptKeys.
Variables (K : finType) (Person Salt : Type) (chosen : Salt -> Person -> {set K}) (total : Person -> K -> int).
Definition keep s y k : int := if k \in chosen s y then total y k else 0.
Theorem kept_keys (g : nat) (c : int) salt us x vs :
  0 <= c -> (#|chosen salt x| <= g)%N -> (forall k, `|total x k| <= c) ->
  l1 (fun k => sum_of (map (keep salt) (us ++ x :: vs)) k - sum_of (map (keep salt) (us ++ vs)) k) <= g%:Z * c.
Proof.
move=> c0 small ok; rewrite per_person /l1 /keep.
apply: (@le_trans _ _ (\sum_(k in chosen salt x) c)).
  by rewrite [X in _ <= X]big_mkcond; apply: ler_sum => k _; case: ifP => _; rewrite ?normr0.
by rewrite sumr_const -mulr_natl natz; apply: ler_wpmul2r; rewrite ?lez_nat.
Qed.
End KeptKeys.

(* Row 30: ranks. A place with B rows before and A up to it has depth max(0, aim - scale·A, scale·B - aim), in steps of
   scale = 2·den a row; the aim is start + num·2·N (mechanisms/selection/ranks.py). A unit adds T rows, b before, a up to. *)
Definition depth (aim after before : int) : int := Num.max 0 (Num.max (aim - after) (before - aim)).
Lemma depth_le (p q p' q' m : int) : 0 <= m -> p <= p' + m -> q <= q' + m ->
  Num.max 0 (Num.max p q) <= Num.max 0 (Num.max p' q') + m.
Proof.
move=> m0 hp hq; rewrite !le_maxl; apply/and3P; split.
- by rewrite addr_ge0 // le_maxr lexx.
- by apply: le_trans hp _; rewrite ler_add2r !le_maxr lexx orbT.
- by apply: le_trans hq _; rewrite ler_add2r !le_maxr lexx !orbT.
Qed.
Lemma depth_moves (p q p' q' m : int) : 0 <= m -> p <= p' + m -> p' <= p + m -> q <= q' + m -> q' <= q + m ->
  `|Num.max 0 (Num.max p q) - Num.max 0 (Num.max p' q')| <= m.
Proof. by move=> *; rewrite ler_distl ler_subl_addr !depth_le. Qed.
Theorem rank_moves (num den start N B A T b a : int) : 0 <= num <= den -> 0 <= b <= a -> a <= T ->
  `|depth (start + num * (2 * (N + T))) (2 * den * (A + a)) (2 * den * (B + b)) -
    depth (start + num * (2 * N)) (2 * den * A) (2 * den * B)| <= 2 * Num.max num (den - num) * T.
Proof.
move=> /andP[n0 nd] /andP[b0 ba] aT; have T0 : 0 <= T by rewrite (le_trans b0) // (le_trans ba).
have d0 : 0 <= den := le_trans n0 nd.
(* the aim moves by num·T of its own, the rows by den·a and den·b; z is the larger of num·T and (den - num)·T *)
have x1 : num * T <= Num.max num (den - num) * T by rewrite ler_wpmul2r // le_maxr lexx.
have x2 : den * T - num * T <= Num.max num (den - num) * T by rewrite -mulrBl ler_wpmul2r // le_maxr lexx orbT.
have y0 : 0 <= num * T by rewrite mulr_ge0.
have y1 : 0 <= den * a by rewrite mulr_ge0 // (le_trans b0 ba).
have y2 : den * a <= den * T by rewrite ler_wpmul2l.
have y3 : 0 <= den * b by rewrite mulr_ge0.
have y4 : den * b <= den * T by rewrite ler_wpmul2l // (le_trans ba aT).
have e0 : num * (2 * (N + T)) = num * (2 * N) + 2 * (num * T) by ring.
have e1 x y : 2 * den * (x + y) = 2 * den * x + 2 * (den * y) by ring.
rewrite -[2 * _ * T]mulrA e0 !e1 /depth.
move: x1 x2 y0 y1 y2 y3 y4; move: (Num.max _ _ * T) (num * T) (den * T) (den * a) (den * b) (num * (2 * N)) (2 * den * A) (2 * den * B).
clear.
by move=> z n d da db aim rowsA rowsB x1 x2 y0 y1 y2 y3 y4; apply: depth_moves; lia.
Qed.
(* the ends aim beyond all rows or at none: depths only grow with a unit, by at most scale·T *)
Lemma one_side (s p q : int) : 0 <= s -> 0 <= p -> q <= 0 ->
  Num.max 0 (Num.max (s * p) (s * q)) = s * p /\ Num.max 0 (Num.max (s * q) (s * p)) = s * p.
Proof.
move=> s0 p0 q0; have sp := mulr_ge0 s0 p0; have qp := le_trans (mulr_ge0_le0 s0 q0) sp.
by rewrite (max_l qp) (max_r qp) (max_r sp).
Qed.
Theorem rank_monotone_last (s N B A T b a : int) : 0 <= s -> 0 <= b <= a -> a <= T -> 0 <= A <= N -> B <= A ->
  0 <= depth (s * (N + T)) (s * (A + a)) (s * (B + b)) - depth (s * N) (s * A) (s * B) <= s * T.
Proof.
move=> s0 /andP[b0 ba] aT /andP[_ AN] BA; rewrite /depth -!mulrBr.
have p0 : 0 <= N + T - (A + a) by rewrite subr_ge0 ler_add.
have q0 : B + b - (N + T) <= 0 by rewrite subr_le0 ler_add // (le_trans BA, le_trans ba).
have p1 : 0 <= N - A by rewrite subr_ge0.
have q1 : B - N <= 0 by rewrite subr_le0 (le_trans BA).
rewrite (proj1 (one_side s0 p0 q0)) (proj1 (one_side s0 p1 q1)) -mulrBr.
have -> : N + T - (A + a) - (N - A) = T - a by ring.
by rewrite mulr_ge0 ?subr_ge0 //= ler_wpmul2l // ler_subl_addr ler_addl (le_trans b0).
Qed.
Theorem rank_monotone_first (s B A T b a : int) : 0 <= s -> 0 <= b <= a -> a <= T -> 0 <= B <= A ->
  0 <= depth 0 (s * (A + a)) (s * (B + b)) - depth 0 (s * A) (s * B) <= s * T.
Proof.
move=> s0 /andP[b0 ba] aT /andP[B0 BA]; rewrite /depth !sub0r !subr0 -!mulrN.
have A0 := le_trans B0 BA; have a0 := le_trans b0 ba.
have p0 : 0 <= B + b by rewrite addr_ge0.
have q0 : - (A + a) <= 0 by rewrite oppr_le0 addr_ge0.
have q1 : - A <= 0 by rewrite oppr_le0.
rewrite (proj2 (one_side s0 p0 q0)) (proj2 (one_side s0 B0 q1)) -mulrBr addrC addKr.
by rewrite mulr_ge0 //= ler_wpmul2l // (le_trans ba).
Qed.

(* Siblings (query/bounds/siblings.py): disjoint parts of one row's cell. A row lies in one part, so measuring every part
   moves what measuring one part would move. *)
Theorem siblings (K P : finType) (part : K -> P) (u : K -> int) (c : int) (k0 : K) :
  (forall k, k != k0 -> u k = 0) -> `|u k0| <= c ->
  \sum_p \sum_(k | part k == p) `|u k| <= c /\ (#|[pred k | (u k != 0)%R]| <= 1)%N.
Proof.
move=> off h; split.
  have -> : \sum_p \sum_(k | part k == p) `|u k| = \sum_k `|u k| by rewrite [RHS](partition_big part xpredT).
  rewrite (bigD1 k0) //= big1 ?addr0 // => k /off ->; exact: normr0.
apply: (@leq_trans #|pred1 k0|); last by rewrite card1.
by apply: subset_leq_card; apply/subsetP => k; rewrite !inE; apply: contraR => /off ->.
Qed.

(* Rows in groups (max_rows_per_group): at most r in a group, K in all: the squares are at most those of full groups and one rest *)
Definition corner_squares (r K : int) : int := (K %/ r)%Z * r ^+ 2 + (K %% r)%Z ^+ 2.
Lemma corner_step (r a S : int) : 0 < r -> 0 <= a <= r -> 0 <= S -> a ^+ 2 + corner_squares r S <= corner_squares r (a + S).
Proof.
move=> r0 ar S0; rewrite /corner_squares.
have e := divz_eq S r; have m0 := modz_ge0 S (lt0r_neq0 r0); have m1 := ltz_pmod S r0.
move: e m0 m1; set q := (S %/ r)%Z; set t := (S %% r)%Z => e m0 m1.
case: (ltP (a + t) r) => h.
  have -> : a + S = q * r + (a + t) by rewrite e; ring.
  have d : ((a + t) %/ r)%Z = 0 by apply: divz_small; lia.
  have k : ((a + t) %% r)%Z = a + t by apply: modz_small; lia.
  rewrite divzMDl ?lt0r_neq0 // modzMDl d k addr0 !expr2; nia.
have -> : a + S = (q + 1) * r + (a + t - r) by rewrite e; ring.
have d : ((a + t - r) %/ r)%Z = 0 by apply: divz_small; lia.
have k : ((a + t - r) %% r)%Z = a + t - r by apply: modz_small; lia.
rewrite divzMDl ?lt0r_neq0 // modzMDl d k addr0 !expr2; nia.
Qed.
Theorem group_rows_l2 (r : int) (a : seq int) : 0 < r -> all (fun x => 0 <= x <= r) a ->
  \sum_(x <- a) x ^+ 2 <= corner_squares r (\sum_(x <- a) x).
Proof.
move=> r0; elim: a => [|x a ih]; first by rewrite !big_nil /corner_squares div0z mod0z mul0r expr0n.
move=> /= /andP[xr ar]; rewrite !big_cons; apply: le_trans (corner_step r0 xr _).
  by rewrite ler_add2l; exact: ih.
by rewrite big_seq sumr_ge0 // => y ya; have /andP[] := allP ar y ya.
Qed.
Theorem more_rows_more_squares (r K L : int) : 0 < r -> 0 <= K <= L -> corner_squares r K <= corner_squares r L.
Proof.
move=> r0 /andP[K0 KL]; rewrite /corner_squares.
have e := divz_eq K r; have m0 := modz_ge0 K (lt0r_neq0 r0); have m1 := ltz_pmod K r0.
have e' := divz_eq L r; have m0' := modz_ge0 L (lt0r_neq0 r0); have m1' := ltz_pmod L r0.
move: e m0 m1 e' m0' m1'; set q := (K %/ r)%Z; set t := (K %% r)%Z; set q' := (L %/ r)%Z; set t' := (L %% r)%Z.
move=> e m0 m1 e' m0' m1'; rewrite !expr2.
case: (leP q' q) => h; last by have : q + 1 <= q' by [lia]; nia.
have qq : q' = q by nia.
by rewrite qq; nia.
Qed.
(* The internal key value: a row without a public key is in one more cell, `None`; what the public cells move is no more *)
Theorem no_public_key (K : finType) (rows : seq (option K * int)) (m : nat) (c : int) : (size rows <= m)%N -> 0 <= c ->
  all (fun x => `|x.2| <= c) rows -> \sum_k `|totals rows (Some k)| <= m%:Z * c.
Proof.
move=> sz c0 ok; apply: le_trans (free_l1 sz c0 ok); rewrite /l1.
rewrite [X in _ <= X](bigD1 None) //= (reindex_omap Some id) => [|[k|]] //=.
rewrite [X in _ <= _ + X](eq_bigl xpredT) => [|k]; last by rewrite eqxx.
by rewrite ler_addr.
Qed.
