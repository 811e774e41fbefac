(* Streams and blocks: T1, T2, T3 and T8 of docs/explanation/proofs.md. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* T1: data that react to answers. An adaptive sequence of steps, each with its own price, that adds up to at most B on every
   path: the product of ratios is at most that of B on every path. Prices as factors. *)
Section Reacting.
Variables (R : realFieldType) (Out : finType).
Inductive stream := Closed | Day of (Out -> R) & (Out -> R) & R & (Out -> stream).   (* laws in both worlds, factor *)
Fixpoint honest (s : stream) : Prop := if s is Day p q b k then
  (forall o, 0 <= p o) /\ (forall o, 0 <= q o) /\ 0 <= b /\ (forall o, p o <= b * q o) /\ forall o, honest (k o) else True.
Fixpoint within (B : R) (s : stream) : Prop := if s is Day p q b k then exists2 B', b * B' = B & (0 <= B' /\ forall o, within B' (k o)) else 1 <= B.
Fixpoint left_chance (s : stream) (path : seq Out) : R := match s, path with
  | Day p q b k, o :: rest => p o * left_chance (k o) rest | _, _ => 1 end.
Fixpoint right_chance (s : stream) (path : seq Out) : R := match s, path with
  | Day p q b k, o :: rest => q o * right_chance (k o) rest | _, _ => 1 end.
Fixpoint complete (s : stream) (path : seq Out) : bool := match s, path with
  | Day p q b k, o :: rest => complete (k o) rest | Closed, [::] => true | _, _ => false end.
Lemma left_ge0 s path : honest s -> 0 <= left_chance s path.
Proof.
elim: s path => [|p q b k ih] [|o path] //=; rewrite ?ler01 //.
by move=> [p0 [q0 [b0 [h hk]]]]; rewrite mulr_ge0 // ih.
Qed.
Lemma right_ge0 s path : honest s -> 0 <= right_chance s path.
Proof.
elim: s path => [|p q b k ih] [|o path] //=; rewrite ?ler01 //.
by move=> [p0 [q0 [b0 [h hk]]]]; rewrite mulr_ge0 // ih.
Qed.
Theorem reacting_data s B path : honest s -> within B s -> complete s path ->
  left_chance s path <= B * right_chance s path.
Proof.
elim: s B path => [|p q b k ih] B [|o path] //=; first by rewrite mulr1.
move=> [p0 [q0 [b0 [h hk]]]] [B' <- [B'0 w]] c.
have i := ih o B' path (hk o) (w o) c.
have -> : b * B' * (q o * right_chance (k o) path) = (b * q o) * (B' * right_chance (k o) path) by ring.
by apply: ler_pmul => //; exact: left_ge0.
Qed.
(* T2: pure eps needs no triangle. On each transcript a reacting stream is one fixed stream, so a ratio that holds for all fixed
   streams holds for it. chance x o: the chance of transcript o on the fixed stream x; react: the stream that o leads to. *)
Theorem fixed_is_enough (Stream Transcript : Type) (near : Stream -> Stream -> Prop) (chance : Stream -> Transcript -> R) (a : R)
    (react react' : Transcript -> Stream) : (forall x y o, near x y -> chance x o <= a * chance y o) ->
  (forall o, near (react o) (react' o)) -> forall o, chance (react o) o <= a * chance (react' o) o.
Proof. by move=> h n o; exact: h. Qed.
End Reacting.

(* T3: sensitivity of a Toeplitz strategy with falling coefficients c: days that are >= b apart do no more than 0, b, 2b, … *)
Section Toeplitz.
Variables (n : nat) (c : nat -> int).
Hypothesis c0 : forall i, 0 <= c i.
Hypothesis falling : forall i j, (i <= j)%N -> c j <= c i.
(* G i j: product of the columns of days i <= j, n days in all *)
Definition G (i j : nat) : int := \sum_(u < n - j) c u * c (u + (j - i)).
Lemma G_falls i j i' j' : (i <= j)%N -> (i' <= j')%N -> (i' <= i)%N -> (j' <= j)%N -> (j' - i' <= j - i)%N -> G i j <= G i' j'.
Proof.
move=> ij ij' ii jj gap; rewrite /G.
have sz : (n - j <= n - j')%N by rewrite leq_sub2l.
rewrite [X in X <= _](big_ord_widen (n - j') (fun u => c u * c (u + (j - i)))) // big_mkcond /=.
apply: ler_sum => u _; case: ifP => _; last by rewrite mulr_ge0.
by apply: ler_wpmul2l => //; apply: falling; rewrite leq_add2l.
Qed.
(* k days p_0 < p_1 < … at least b apart: the p-th is at least p b, and gaps are at least (q - p) b *)
Variables (k b : nat) (day : nat -> nat).
Hypothesis apart : forall p, (day p + b <= day p.+1)%N.
Lemma day_gap p q : (p <= q)%N -> (day p + (q - p) * b <= day q)%N.
Proof.
elim: q => [|q ih]; first by rewrite leqn0 => /eqP ->; rewrite subnn mul0n addn0.
rewrite leq_eqVlt => /orP[/eqP ->|]; first by rewrite subnn mul0n addn0.
by rewrite ltnS => pq; apply: leq_trans (apart q); rewrite subSn // mulSn; have := ih pq; lia.
Qed.
Definition gram (d : nat -> nat) (p q : nat) := if (p <= q)%N then G (d p) (d q) else G (d q) (d p).
Theorem toeplitz_l2 : \sum_(p < k) \sum_(q < k) gram day p q <= \sum_(p < k) \sum_(q < k) gram (fun p => p * b)%N p q.
Proof.
have one (p q : nat) : (p <= q)%N -> G (day p) (day q) <= G (p * b) (q * b).
  move=> pq; have gp := day_gap pq; have g0 := day_gap (leq0n p); have g1 := day_gap (leq0n q).
  rewrite !subn0 in g0 g1; apply: G_falls; rewrite ?leq_mul2r ?pq ?orbT //; try lia.
  by rewrite -mulnBl; lia.
by apply: ler_sum => p _; apply: ler_sum => q _; rewrite /gram; case: leqP => h; apply: one => //; exact: ltnW.
Qed.
(* signs only lower it *)
Theorem toeplitz_signs (s : 'I_k -> int) : (forall p, `|s p| <= 1) ->
  \sum_(p < k) \sum_(q < k) s p * s q * gram day p q <= \sum_(p < k) \sum_(q < k) gram day p q.
Proof.
move=> s1; have G0 i j : 0 <= G i j by rewrite sumr_ge0 // => u _; rewrite mulr_ge0.
apply: ler_sum => p _; apply: ler_sum => q _; have g0 : 0 <= gram day p q by rewrite /gram; case: ifP.
rewrite -[X in _ <= X]mul1r; apply: ler_wpmul2r => //; apply: le_trans (ler_norm _) _.
by rewrite normrM -[1]mulr1; apply: ler_pmul.
Qed.
(* column sums fall with the day, so L1 is greatest on 0, b, 2b, … too *)
Definition column_sum d : int := \sum_(u < n - d) c u.
Theorem toeplitz_l1 : \sum_(p < k) column_sum (day p) <= \sum_(p < k) column_sum (p * b).
Proof.
apply: ler_sum => p _; have := day_gap (leq0n p); rewrite subn0 => g.
have sz : (n - day p <= n - p * b)%N by lia.
rewrite /column_sum [X in X <= _](big_ord_widen (n - p * b) c) // big_mkcond /=.
by apply: ler_sum => u _; case: ifP.
Qed.
End Toeplitz.

(* T8: blocks. Charges on intervals of blocks are admitted while every allowed set of blocks meets at most B; a person lies in an
   allowed set, so the person's cost is at most B, whatever was asked in between. *)
Section Blocks.
Variables (R : realFieldType) (Block : finType) (allowed : {set Block} -> Prop) (B : R).
Definition met (T : {set Block}) (events : seq ({set Block} * R)) := \sum_(e <- events | e.1 :&: T != set0) e.2.
Inductive admitted : seq ({set Block} * R) -> Prop :=
| Nothing : admitted [::]
| Charge s a events : admitted events -> 0 <= a -> (forall T, allowed T -> met T ((s, a) :: events) <= B) -> admitted ((s, a) :: events).
Theorem blocks events T : 0 <= B -> admitted events -> allowed T -> met T events <= B.
Proof. by move=> B0 ad al; case: ad => [|s a ev _ _]; [rewrite /met big_nil | apply]. Qed.
(* replace: the person may have been in T or in T', so both together must be allowed for twice the books *)
Theorem blocks_replace events T T' : 0 <= B -> (forall e, e \in events -> 0 <= e.2) -> met (T :|: T') events <= met T events + met T' events.
Proof.
move=> _ pos; rewrite /met; elim: events pos => [|e ev ih] pos; first by rewrite !big_nil addr0.
have pos' x : x \in ev -> 0 <= x.2 by move=> xe; apply: pos; rewrite inE xe orbT.
have h := ih pos'; have e0 := pos e (mem_head e ev); rewrite !big_cons setIUr setU_eq0 negb_and.
case: (_ != _); case: (_ != _) => //=.
- by rewrite -[X in _ <= X]addrA ler_add2l; apply: le_trans h _; rewrite ler_add2l ler_addr.
- by rewrite -[X in _ <= X]addrA ler_add2l.
- by rewrite [X in _ <= X]addrCA ler_add2l.
Qed.
End Blocks.
