(* Finite laws: selection, response, samplers' skeletons, post-processing, parallel parts, groups. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Section Laws.
Variables (R : realFieldType) (Out : finType).
Implicit Types (p q w v : Out -> R).

(* M1 exponential mechanism: mechanisms/selection/exponential.py *)
Definition normalised w o := w o / \sum_x w x.
Theorem exponential (c : R) w v o : 0 <= c -> (forall x, 0 < w x) -> (forall x, 0 < v x) ->
  (forall x, w x <= c * v x) -> (forall x, v x <= c * w x) -> normalised w o <= c ^+ 2 * normalised v o.
Proof.
move=> c0 w0 v0 wv vw; rewrite /normalised.
have W : 0 < \sum_x w x by rewrite (bigD1 o) //= ltr_paddr // sumr_ge0 // => x _; exact: ltW.
have V : 0 < \sum_x v x by rewrite (bigD1 o) //= ltr_paddr // sumr_ge0 // => x _; exact: ltW.
rewrite ler_pdivr_mulr // mulrA mulrAC ler_pdivl_mulr //.
have sv : \sum_x v x <= c * \sum_x w x by rewrite mulr_sumr; apply: ler_sum.
have -> : c ^+ 2 * v o * (\sum_x w x) = (c * v o) * (c * (\sum_x w x)) by ring.
by apply: ler_pmul => //; rewrite ltW.
Qed.
(* M2 monotone scores: all weights move one way, half the noise *)
Theorem exponential_monotone (c : R) w v o : 0 <= c -> (forall x, 0 < w x) -> (forall x, 0 < v x) ->
  (forall x, v x <= w x <= c * v x) -> normalised w o <= c * normalised v o /\ normalised v o <= c * normalised w o.
Proof.
move=> c0 w0 v0 wv.
have W : 0 < \sum_x w x by rewrite (bigD1 o) //= ltr_paddr // sumr_ge0 // => x _; exact: ltW.
have V : 0 < \sum_x v x by rewrite (bigD1 o) //= ltr_paddr // sumr_ge0 // => x _; exact: ltW.
have vw : \sum_x v x <= \sum_x w x by apply: ler_sum => x _; case/andP: (wv x).
have wcv : \sum_x w x <= c * \sum_x v x by rewrite mulr_sumr; apply: ler_sum => x _; case/andP: (wv x).
have [a b] := andP (wv o).
split; rewrite /normalised ler_pdivr_mulr // mulrA mulrAC ler_pdivl_mulr //.
  by apply: ler_pmul => //; rewrite ltW.
have -> : c * w o * (\sum_x v x) = w o * (c * (\sum_x v x)) by ring.
by apply: ler_pmul => //; rewrite ltW.
Qed.

(* M3 the two-level local family (decision 0012): weight a on S_x, 1 off it, one normaliser *)
Theorem two_level (a Z : R) (S T : {set Out}) o : 1 <= a -> 0 < Z ->
  (if o \in S then a else 1) / Z <= a * ((if o \in T then a else 1) / Z).
Proof.
move=> a1 Z0; rewrite mulrA ler_pmul2r ?invr_gt0 //.
have a0 : 0 <= a := le_trans ler01 a1.
have aa : a <= a * a by rewrite -{1}[a]mulr1 ler_wpmul2l.
by case: (o \in S); case: (o \in T); rewrite ?mulr1 ?lexx //; apply: le_trans aa.
Qed.
Theorem two_level_law (a : R) (S : {set Out}) : 0 < a * #|S|%:R + #|~: S|%:R ->
  \sum_o (if o \in S then a else 1) / (a * #|S|%:R + #|~: S|%:R) = 1.
Proof.
move=> z0; rewrite -mulr_suml.
have -> : \sum_o (if o \in S then a else 1) = a * #|S|%:R + #|~: S|%:R.
  transitivity (\sum_(o in S) a + \sum_(o in ~: S) 1); last by rewrite !sumr_const mulr_natr.
  rewrite (bigID (mem S)) /=; congr (_ + _); first by apply: eq_bigr => o oS; rewrite (oS : o \in S).
  by apply: eq_big => [o|o oS]; [rewrite inE | rewrite (negbTE oS)].
by rewrite divff // lt0r_neq0.
Qed.

(* M4 post-processing by any function: a truncated geometric is a clamped geometric *)
Definition push (T : finType) (f : Out -> T) p t := \sum_(o | f o == t) p o.
Theorem post_processing (T : finType) (f : Out -> T) (a d : R) p q (S : {set T}) :
  (forall E : {set Out}, \sum_(o in E) p o <= a * (\sum_(o in E) q o) + d) ->
  \sum_(t in S) push f p t <= a * (\sum_(t in S) push f q t) + d.
Proof.
move=> ok; pose E := [set o | f o \in S].
have r (g : Out -> R) : \sum_(t in S) push f g t = \sum_(o in E) g o.
  rewrite /push (exchange_big_dep (mem E)) => [|t o tS /eqP ft] /=; last by rewrite inE ft.
  apply: eq_bigr => o; rewrite inE => oE; rewrite (big_pred1 (f o)) // => t.
  by rewrite andbC /= [t == _]eq_sym; case: eqP => // <-; rewrite oE.
by rewrite !r; exact: ok.
Qed.

(* M5 group privacy: delta (1 + a + ... + a^(k-1)) *)
Theorem group_privacy (D : Type) (near : D -> D -> Prop) (m : D -> {set Out} -> R) (a d : R) : 0 <= a ->
  (forall x y E, near x y -> m x E <= a * m y E + d) ->
  forall (path : nat -> D) k E, (forall i, (i < k)%N -> near (path i) (path i.+1)) ->
  m (path 0%N) E <= a ^+ k * m (path k) E + d * \sum_(i < k) a ^+ i.
Proof.
move=> a0 ok path k E; elim: k => [|k ih] h; first by rewrite big_ord0 mulr0 addr0 expr0 mul1r.
apply: le_trans (ih _) _ => [i ik|]; first exact/h/ltnW.
rewrite big_ord_recr /=; set S := \sum_(i < k) _; have t := ler_wpmul2l (exprn_ge0 k a0) (ok _ _ E (h k (ltnSn k))).
have -> : a ^+ k.+1 * m (path k.+1) E + d * (S + a ^+ k) = a ^+ k * (a * m (path k.+1) E + d) + d * S by rewrite exprSr; ring.
by rewrite ler_add2r.
Qed.

(* M6 a rejection loop: after any number n of rounds what came out has exactly the weights *)
Theorem rejection (w : Out -> R) (n : nat) o : \sum_x w x != 0 ->
  \sum_(i < n) (1 - \sum_x w x) ^+ i * w o = normalised w o * (1 - (1 - \sum_x w x) ^+ n).
Proof.
set W := \sum_x w x => W0; rewrite /normalised -/W; elim: n => [|n ih]; first by rewrite big_ord0 expr0 subrr mulr0.
rewrite big_ord_recr /= ih exprSr; field; exact: W0.
Qed.
End Laws.

(* M7 cell + low bits: a cell with weight proportional to its length, then a uniform place inside: uniform *)
Theorem cell_low (R : numFieldType) (len : nat) (total : nat) : (0 < len)%N ->
  (len%:R / total%:R) * (1 / len%:R) = 1 / total%:R :> R.
Proof. by move=> l0; rewrite mulrA mulr1 mulrAC divff ?mul1r // pnatr_eq0 -lt0n. Qed.

(* M8 parallel parts, replace (ledger/parts.py): two parts, counted twice each, bound every pair *)
Theorem two_parts (R : realFieldType) (c p q b : R) : c + p + p <= b -> c + q + q <= b -> c + p + q <= b.
Proof.
move=> h1 h2; have := ler_add h1 h2; have -> : c + p + p + (c + q + q) = (c + p + q) + (c + p + q) by ring.
by rewrite -!mulr2n ler_pmuln2r.
Qed.
