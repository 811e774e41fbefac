(* The residue filter (privacy/filters/residue.py): crossings, and costs that hold further on. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Row 8, first half: a_(k+1)/a_k falls (r_k/(2k-1) falls), so {k : a_k >= 1} is an interval: signs -, +, - *)
Section LogConcave.
Variables (R : realFieldType) (a : nat -> R).
Hypothesis a_pos : forall k, 0 < a k.
Hypothesis concave : forall k, a k.+2 * a k <= a k.+1 ^+ 2.
Lemma falls_on k : a k.+1 <= a k -> a k.+2 <= a k.+1.
Proof.
move=> h; rewrite -(ler_pmul2r (a_pos k)); apply: le_trans (concave k) _; rewrite expr2.
by apply: ler_wpmul2l => //; exact: ltW.
Qed.
Lemma falls_from k j : a k.+1 <= a k -> (k <= j)%N -> a j.+1 <= a j.
Proof.
move=> h; elim: j => [|j ih]; first by rewrite leqn0 => /eqP <-.
by rewrite leq_eqVlt => /orP[/eqP <-//|]; rewrite ltnS => /ih/falls_on.
Qed.
Theorem one_interval i k j : (i <= k <= j)%N -> 1 <= a i -> 1 <= a j -> 1 <= a k.
Proof.
move=> /andP[ik kj] ai aj; rewrite leNgt; apply/negP => ak.
have [l [il lk fl]] : exists l, [/\ (i <= l)%N, (l < k)%N & a l.+1 <= a l].
  elim: k ik ak {kj} => [|k ih]; first by rewrite leqn0 => /eqP <-; rewrite ltNge ai.
  rewrite leq_eqVlt => /orP[/eqP <- ak|]; first by rewrite ltNge ai in ak.
  rewrite ltnS => ik ak.
  case: (leP (a k.+1) (a k)) => [h|h]; first by exists k.
  by have [l [il lk fl]] := ih ik (lt_trans h ak); exists l; split=> //; rewrite ltnS ltnW.
have down m : (k <= m)%N -> a m <= a k.
  elim: m => [|m ih]; first by rewrite leqn0 => /eqP <-.
  rewrite leq_eqVlt => /orP[/eqP <-//|]; rewrite ltnS => km.
  by apply: le_trans (ih km); apply: falls_from fl _; apply: leq_trans km; exact: ltnW.
by have := le_lt_trans (le_trans aj (down j kj)) ak; rewrite ltxx.
Qed.
End LogConcave.
(* the ratios of the code's three families: constant (randomized response), and x²(1 - 2/(2k+1)) <= r_k <= x² (Laplace) *)
Theorem laplace_ratios (R : realFieldType) (x2 r r' : R) (k : nat) : 0 <= x2 -> (0 < k)%N ->
  x2 * (1 - 2 / (k.*2.+1)%:R) <= r -> r' <= x2 -> r' / (k.*2.+1)%:R <= r / (k.*2.-1)%:R.
Proof.
move=> x0 k0 lo hi; have n1 : 0 < (k.*2.+1)%:R :> R by rewrite ltr0n.
have n2 : 0 < (k.*2.-1)%:R :> R by rewrite ltr0n; lia.
apply: (@le_trans _ _ (x2 / (k.*2.+1)%:R)); first by rewrite ler_pmul2r ?invr_gt0.
rewrite ler_pdivl_mulr //; apply: le_trans lo; rewrite -mulrA; apply: ler_wpmul2l => //.
have -> : (k.*2.-1)%:R = (k.*2.+1)%:R - 2 :> R by case: k k0 {n1 n2} => // k _; rewrite doubleS /= -addn2 natrD addrK.
by rewrite mulrBr mulVf ?lt0r_neq0 // mulrC.
Qed.

(* Row 8, second half (Descartes): c_k <= 0, >= 0, <= 0. A function sum c_k v^k that is positive at x and z is positive between.
   `total` is the sum over all k on a class of summable sequences. *)
Section Descartes.
Variables (R : realFieldType) (ok : (nat -> R) -> Prop) (total : (nat -> R) -> R).
Hypothesis ok_add : forall f g, ok f -> ok g -> ok (fun k => f k + g k).
Hypothesis ok_scale : forall c f, ok f -> ok (fun k => c * f k).
Hypothesis total_add : forall f g, ok f -> ok g -> total (fun k => f k + g k) = total f + total g.
Hypothesis total_scale : forall c f, ok f -> total (fun k => c * f k) = c * total f.
Hypothesis total_le : forall f g, ok f -> ok g -> (forall k, f k <= g k) -> total f <= total g.
Variables (c : nat -> R) (i j : nat).
Hypothesis ij : (i < j)%N.
Hypothesis before : forall k, (k < i)%N -> c k <= 0.
Hypothesis middle : forall k, (i <= k <= j)%N -> 0 <= c k.
Hypothesis after : forall k, (j < k)%N -> c k <= 0.
Definition value v := total (fun k => c k * v ^+ k).
(* l X^k + m Z^k with X < 1 < Z is convex in k; it is 1 at i and at j, so <= 1 between and >= 1 beside *)
Variables (X Z : R).
Hypothesis X01 : 0 < X < 1.
Hypothesis Z1 : 1 < Z.
Let X0 : 0 < X. Proof. by case/andP: X01. Qed.
Let Z0 : 0 < Z. Proof. exact: lt_trans ltr01 Z1. Qed.
Definition det := X ^+ i * Z ^+ j - X ^+ j * Z ^+ i.
Definition l := (Z ^+ j - Z ^+ i) / det.
Definition m := (X ^+ i - X ^+ j) / det.
Definition h k := l * X ^+ k + m * Z ^+ k.
Lemma X_falls p q : (p < q)%N -> X ^+ q < X ^+ p.
Proof. by move=> pq; have [x0 x1] := andP X01; rewrite ltr_iexpn2l. Qed.
Lemma Z_grows p q : (p < q)%N -> Z ^+ p < Z ^+ q.
Proof. by move=> pq; rewrite ltr_eexpn2l. Qed.
Lemma det0 : 0 < det.
Proof.
rewrite subr_gt0; apply: (@lt_trans _ _ (X ^+ i * Z ^+ i)).
  by rewrite ltr_pmul2r ?exprn_gt0 // X_falls.
by rewrite ltr_pmul2l ?exprn_gt0 // Z_grows.
Qed.
Lemma l0 : 0 <= l. Proof. by rewrite divr_ge0 ?(ltW det0) // subr_ge0 ltW // Z_grows. Qed.
Lemma m0 : 0 <= m. Proof. by rewrite divr_ge0 ?(ltW det0) // subr_ge0 ltW // X_falls. Qed.
Lemma h_i : h i = 1.
Proof.
have := lt0r_neq0 det0; rewrite /h /l /m /det.
by move: (X ^+ i) (X ^+ j) (Z ^+ i) (Z ^+ j) => xi xj zi zj d; field.
Qed.
Lemma h_j : h j = 1.
Proof.
have := lt0r_neq0 det0; rewrite /h /l /m /det.
by move: (X ^+ i) (X ^+ j) (Z ^+ i) (Z ^+ j) => xi xj zi zj d; field.
Qed.
Lemma h_convex k : h k.+1 - h k <= h k.+2 - h k.+1.
Proof.
rewrite -subr_ge0; have -> : h k.+2 - h k.+1 - (h k.+1 - h k) = l * X ^+ k * (1 - X) ^+ 2 + m * Z ^+ k * (1 - Z) ^+ 2.
  by rewrite /h !exprS; ring.
by rewrite addr_ge0 // mulr_ge0 ?sqr_ge0 // mulr_ge0 ?l0 ?m0 // exprn_ge0 // ltW.
Qed.
Lemma slopes p q : (p <= q)%N -> h p.+1 - h p <= h q.+1 - h q.
Proof.
elim: q => [|q ih]; first by rewrite leqn0 => /eqP <-.
by rewrite leq_eqVlt => /orP[/eqP <-//|]; rewrite ltnS => /ih/le_trans; apply; exact: h_convex.
Qed.
Lemma slope_sum p n : h (p + n) - h p = \sum_(t < n) (h (p + t).+1 - h (p + t)).
Proof.
elim: n => [|n ih]; first by rewrite big_ord0 addn0 subrr.
by rewrite big_ord_recr /= -ih addnS; ring.
Qed.
Lemma three p q r : (p <= q <= r)%N -> (r - p)%:R * h q <= (r - q)%:R * h p + (q - p)%:R * h r.
Proof.
case/andP=> /subnKC <- /subnKC <-; move: (q - p)%N => n1; move: (r - _)%N => n2.
rewrite -[(p + n1 + n2 - p)%N]/(p + n1 + n2 - p)%N (_ : p + n1 + n2 - p = n1 + n2)%N; last by rewrite -addnA addKn.
rewrite (addKn (p + n1)) (addKn p).
set s := h (p + n1).+1 - h (p + n1).
have a : h (p + n1) - h p <= n1%:R * s.
  rewrite slope_sum (_ : n1%:R * s = \sum_(t < n1) s); last by rewrite sumr_const card_ord mulr_natl.
  by apply: ler_sum => t _; apply: slopes; rewrite leq_add2l ltnW.
have b : n2%:R * s <= h (p + n1 + n2) - h (p + n1).
  rewrite slope_sum (_ : n2%:R * s = \sum_(t < n2) s); last by rewrite sumr_const card_ord mulr_natl.
  by apply: ler_sum => t _; apply: slopes; rewrite leq_addr.
have a' := ler_wpmul2l (ler0n R n2) a; have b' := ler_wpmul2l (ler0n R n1) b.
have : n2%:R * (h (p + n1) - h p) <= n1%:R * (h (p + n1 + n2) - h (p + n1)).
  by apply: le_trans a' _; rewrite mulrCA.
rewrite natrD -subr_ge0 => g; rewrite -subr_ge0; apply: le_trans g _.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.
Lemma h_between k : (i <= k <= j)%N -> h k <= 1.
Proof.
move=> ikj; have := three ikj; rewrite h_i h_j !mulr1 -natrD.
rewrite (_ : j - k + (k - i) = j - i)%N; last by lia.
by rewrite -{2}[(j - i)%:R]mulr1 ler_pmul2l // ltr0n subn_gt0.
Qed.
Lemma h_beside k : (k < i)%N || (j < k)%N -> 1 <= h k.
Proof.
case/orP=> out.
  have := @three k i j; rewrite (ltnW out) (ltnW ij) => /(_ isT); rewrite h_i h_j !mulr1.
  rewrite -ler_subl_addr -natrB; last by lia.
  rewrite (_ : j - k - (i - k) = j - i)%N; last by lia.
  by rewrite -{1}[(j - i)%:R]mulr1 ler_pmul2l // ltr0n subn_gt0.
have := @three i j k; rewrite (ltnW out) (ltnW ij) => /(_ isT); rewrite h_i h_j !mulr1.
rewrite -ler_subl_addl -natrB; last by lia.
rewrite (_ : k - i - (k - j) = j - i)%N; last by lia.
by rewrite -{1}[(j - i)%:R]mulr1 ler_pmul2l // ltr0n subn_gt0.
Qed.
Theorem descartes y : 0 < y ->
  ok (fun k => c k * y ^+ k) -> ok (fun k => c k * (X * y) ^+ k) -> ok (fun k => c k * (Z * y) ^+ k) ->
  0 <= value (X * y) -> 0 <= value (Z * y) -> 0 <= value y.
Proof.
move=> y0 oky okx okz vx vz.
have okl := ok_scale l okx; have okm := ok_scale m okz; have oks := ok_add okl okm.
apply: (@le_trans _ _ (l * value (X * y) + m * value (Z * y))); first by rewrite addr_ge0 // mulr_ge0 ?l0 ?m0.
rewrite /value -!total_scale // -total_add //; apply: total_le => // k.
have -> : l * (c k * (X * y) ^+ k) + m * (c k * (Z * y) ^+ k) = c k * y ^+ k * h k.
  by rewrite /h !exprMn; move: (X ^+ k) (Z ^+ k) (y ^+ k) (c k) l m => a1 a2 a3 a4 a5 a6; ring.
have yk : 0 <= y ^+ k by rewrite exprn_ge0 // ltW.
case: (boolP (i <= k <= j)%N) => [ikj|out].
  by rewrite ler_pimulr ?h_between // mulr_ge0 // middle.
have out' : (k < i)%N || (j < k)%N by rewrite !ltnNge -negb_and.
have ck : c k <= 0 by case/orP: out' => o; [exact: before | exact: after].
by rewrite -[X in _ <= X]mulr1; apply: ler_wnmul2l; [rewrite mulr_le0_ge0 | exact: h_beside].
Qed.
End Descartes.

(* Row 9: a cost that is enough at s is enough at s' >= s, and runs of copies. Pairs compose (x ⊗ y) and are ordered by
   "no easier to tell apart"; G s is Gaussian DP with square s, and G s ⊗ G u = G (s + u). *)
Section Costs.
Variables (R : realFieldType) (Pair : Type) (one : Pair) (both : Pair -> Pair -> Pair) (le : Pair -> Pair -> Prop) (G : R -> Pair).
Hypothesis le_refl : forall x, le x x.
Hypothesis le_trans' : forall y x z, le x y -> le y z -> le x z.
Hypothesis both_le : forall x x' y y', le x x' -> le y y' -> le (both x y) (both x' y').
Hypothesis bothA : forall x y z, both x (both y z) = both (both x y) z.
Hypothesis both1 : forall x, both one x = x.
Hypothesis G_add : forall s u, 0 <= s -> 0 <= u -> G (s + u) = both (G s) (G u).
Definition enough M s c := c <= s /\ le (both M (G (s - c))) (G s).
Theorem holds_further_on M s s' c : 0 <= c -> enough M s c -> s <= s' -> enough M s' c.
Proof.
move=> c0 [cs h] ss; split; first exact: le_trans ss.
have -> : s' - c = (s - c) + (s' - s) by ring.
have s0 : 0 <= s := le_trans c0 cs; have d0 : 0 <= s' - s by rewrite subr_ge0.
have -> : G s' = both (G s) (G (s' - s)) by rewrite -G_add // addrC subrK.
rewrite G_add ?subr_ge0 // bothA.
exact: both_le.
Qed.
Fixpoint copies M n := if n is k.+1 then both (copies M k) M else one.
Theorem run_of_copies M s0 s c n : 0 <= c -> enough M s0 c -> s0 <= s - n%:R * c -> enough (copies M n.+1) s (n.+1%:R * c).
Proof.
move=> c0 e0; elim: n => [|n ih] st.
  by rewrite /= both1 mul1r; apply: holds_further_on c0 e0 _; rewrite mul0r subr0 in st.
have st' : s0 <= s - n%:R * c by apply: le_trans st _; rewrite ler_sub // ler_wpmul2r // ler_nat.
have [_ h] := ih st'; have [a b] := holds_further_on c0 e0 st.
have e : n.+2%:R * c = n.+1%:R * c + c by rewrite -addn1 natrD mulrDl mul1r.
split; first by rewrite e -ler_subr_addl.
rewrite [copies M n.+2]/= -bothA; apply: le_trans' h; apply: both_le => //.
by rewrite e opprD addrA; exact: b.
Qed.
End Costs.
