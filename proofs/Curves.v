(* Trade-off curves and rules over them: privacy/pricing/gdp.py, pricing/zcdp.py, mechanisms/keys/partition.py. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Row 15: corners decide. A trade-off that is straight between corners lies above a convex one everywhere if it does at
   the corners: on each straight piece from a to b. *)
Theorem corners_decide (R : realFieldType) (f g : R -> R) (a b x : R) : a < b -> a <= x <= b ->
  (b - a) * f x = (b - x) * f a + (x - a) * f b ->                 (* f is straight on a..b *)
  (b - a) * g x <= (b - x) * g a + (x - a) * g b ->                (* g is convex *)
  g a <= f a -> g b <= f b -> g x <= f x.
Proof.
move=> ab /andP[ax xb] straight convex fa fb.
have ba : 0 < b - a by rewrite subr_gt0.
rewrite -(ler_pmul2l ba) straight; apply: le_trans convex _.
by apply: ler_add; apply: ler_wpmul2l => //; rewrite subr_ge0.
Qed.

(* Row 49: the optimal rule for unknown keys, pi(n+1) = min(a pi(n) + d, 1 - (1 - pi(n) - d)/a, 1), a = e^eps *)
Section KeyRule.
Variables (R : realFieldType) (a d : R).
Hypothesis a1 : 1 <= a.
Hypothesis d01 : 0 <= d <= 1.
Definition next (x : R) := Num.min (a * x + d) (Num.min (1 - (1 - x - d) / a) 1).
Fixpoint rule n := if n is m.+1 then next (rule m) else 0.
Definition private (x y : R) :=              (* both outcomes, both ways: x and y are chances of "shown" *)
  [/\ y <= a * x + d, x <= a * y + d, 1 - y <= a * (1 - x) + d & 1 - x <= a * (1 - y) + d].
Let a0 : 0 < a. Proof. exact: lt_le_trans ltr01 a1. Qed.
Lemma rule01 n : 0 <= rule n <= 1.
Proof.
have [d0 d1] := andP d01; elim: n => [|n /andP[h0 h1]] /=; first by rewrite lexx ler01.
rewrite /next !le_minr !le_minl lexx !orbT andbT ler01 andbT; apply/andP; split.
  by rewrite addr_ge0 ?mulr_ge0 ?(ltW a0).
rewrite subr_ge0 ler_pdivr_mulr // mul1r; apply: le_trans a1.
by rewrite -subr_ge0 opprB addrA addrAC; apply: addr_ge0 => //; rewrite opprB addrCA subrr addr0.
Qed.
Lemma rule_grows n : rule n <= rule n.+1.
Proof.
have [d0 d1] := andP d01; have /andP[h0 h1] := rule01 n; rewrite /= /next !le_minr h1 andbT; apply/andP; split.
  by apply: le_trans (_ : a * rule n <= _); rewrite ?ler_pemull // ler_addl.
rewrite ler_subr_addr -ler_subr_addl ler_pdivr_mulr //; apply: (@le_trans _ _ (1 - rule n)).
  by rewrite ler_subl_addr ler_addl.
by rewrite ler_pemulr // subr_ge0.
Qed.
Theorem key_rule_private n : private (rule n) (rule n.+1).
Proof.
have [d0 d1] := andP d01; have /andP[h0 h1] := rule01 n; have /andP[k0 k1] := rule01 n.+1; have gr := rule_grows n.
have up (x y : R) : x <= y -> 0 <= y -> x <= a * y + d.
  by move=> xy y0; apply: le_trans xy _; apply: le_trans (_ : a * y <= _); rewrite ?ler_pemull // ler_addl.
have le1 : rule n.+1 <= a * rule n + d by rewrite /= /next !le_minl lexx.
have le2 : rule n.+1 <= 1 - (1 - rule n - d) / a by rewrite /= /next !le_minl lexx !orbT.
split; [exact: le1 | exact: up | | ].
  by apply: up; [rewrite ler_sub | rewrite subr_ge0].
move: le2; rewrite ler_subr_addr -ler_subr_addl ler_pdivr_mulr // => le2.
by rewrite -ler_subl_addr [a * _]mulrC.
Qed.
(* no private rule with pi(0) = 0 shows a key more often *)
Theorem key_rule_optimal (other : nat -> R) n : other 0%N = 0 -> (forall k, other k <= 1) ->
  (forall k, private (other k) (other k.+1)) -> other n <= rule n.
Proof.
move=> o0 o1 pr; elim: n => [|n ih]; first by rewrite o0.
have [le1 _ _ le2] := pr n; rewrite /= /next !le_minr o1 andbT; apply/andP; split.
  by apply: le_trans le1 _; rewrite ler_add2r ler_wpmul2l ?(ltW a0).
rewrite ler_subr_addr -ler_subr_addl ler_pdivr_mulr //.
have h : 1 - rule n - d <= 1 - other n - d by rewrite ler_add2r ler_sub.
by apply: le_trans h _; rewrite ler_subl_addr [_ * a]mulrC.
Qed.
End KeyRule.

(* Row 36: a shift that is split over coordinates is no worse than one shift. One lattice step of noise with ratio a changes
   every chance by at most 1/a: its best power at size x is step x. *)
Section SplitShift.
Variables (R : realFieldType) (a : R).
Hypothesis a01 : 0 < a <= 1.
Let a0 : 0 < a. Proof. by case/andP: a01. Qed.
Definition step (x : R) := Num.min (x / a) (1 - a * (1 - x)).
Definition steps n := iter n step.
Lemma step_mono x y : x <= y -> step x <= step y.
Proof.
move=> xy; rewrite /step le_minr !le_minl; apply/andP; split.
  by rewrite ler_pmul2r ?invr_gt0 // xy.
by apply/orP; right; rewrite ler_sub // ler_wpmul2l ?(ltW a0) // ler_sub.
Qed.
Lemma steps_mono n x y : x <= y -> steps n x <= steps n y.
Proof. by elim: n => //= n ih xy; exact/step_mono/ih. Qed.
(* Jensen: a mixture of sizes has no more power *)
Lemma steps_jensen (I : finType) (w x : I -> R) n : (forall i, 0 <= w i) -> \sum_i w i = 1 ->
  \sum_i w i * steps n (x i) <= steps n (\sum_i w i * x i).
Proof.
move=> w0 w1; elim: n => [|n ih] //=.
apply: le_trans (step_mono ih); rewrite {2}/step le_minr; apply/andP; split.
  rewrite mulr_suml; apply: ler_sum => i _; rewrite -mulrA; apply: ler_wpmul2l => //; by rewrite /step le_minl lexx.
have -> : 1 - a * (1 - \sum_i w i * steps n (x i)) = \sum_i w i * (1 - a * (1 - steps n (x i))).
  transitivity (\sum_i ((1 - a) * w i + a * (w i * steps n (x i)))); last by apply: eq_bigr => i _; ring.
  rewrite [RHS]big_split /= -!mulr_sumr w1 mulr1; move: (\sum_i _) => S; ring.
by apply: ler_sum => i _; apply: ler_wpmul2l => //; rewrite /step le_minl lexx orbT.
Qed.
Variable X : finType.
Definition test (f : X -> R) := forall x, 0 <= f x <= 1.
Definition power (p f : X -> R) := \sum_x p x * f x.
Definition law (p : X -> R) := (forall x, 0 <= p x) /\ \sum_x p x = 1.
Definition close (p q : X -> R) := forall x, p x * a <= q x /\ q x * a <= p x.
(* one step *)
Lemma one_step p q f : law p -> law q -> close p q -> test f -> power q f <= step (power p f).
Proof.
move=> [p0 p1] [q0 q1] cl tf; rewrite /step le_minr; apply/andP; split.
  rewrite /power mulr_suml; apply: ler_sum => x _; have [f0 _] := andP (tf x); have [_ h] := cl x.
  by rewrite mulrAC; apply: ler_wpmul2r => //; rewrite ler_pdivl_mulr.
have e (r : X -> R) : \sum_x r x = 1 -> 1 - power r f = \sum_x r x * (1 - f x).
  by move=> r1; rewrite -{1}r1 /power -sumrB; apply: eq_bigr => x _; ring.
rewrite ler_subr_addr -ler_subr_addl (e _ p1) (e _ q1) mulr_sumr; apply: ler_sum => x _.
have [_ f1] := andP (tf x); have [h _] := cl x.
by rewrite mulrA [a * _]mulrC; apply: ler_wpmul2r => //; rewrite subr_ge0.
Qed.
(* the laws of noise around 0, 1, 2, … steps *)
Variable noise : nat -> X -> R.
Hypothesis noise_law : forall n, law (noise n).
Hypothesis noise_step : forall n, close (noise n) (noise n.+1).
Lemma many_steps m n f : test f -> power (noise (m + n)) f <= steps n (power (noise m) f).
Proof.
move=> tf; elim: n => [|n ih]; first by rewrite addn0.
rewrite addnS; apply: le_trans (one_step (noise_law _) (noise_law _) (noise_step _) tf) _.
exact: step_mono ih.
Qed.
(* the curve: a test that sees two coordinates moved by m and n steps has no more power than m + n steps allow *)
Theorem split_shift m n (f : X -> X -> R) : (forall x y, 0 <= f x y <= 1) ->
  \sum_x noise m x * power (noise n) (f x) <= steps (m + n) (\sum_x noise 0 x * power (noise 0) (f x)).
Proof.
move=> tf; have [m0 m1] := noise_law m; have [z0 z1] := noise_law 0.
have h1 : \sum_x noise m x * power (noise n) (f x) <= \sum_x noise m x * steps n (power (noise 0) (f x)).
  by apply: ler_sum => x _; apply: ler_wpmul2l => //; rewrite -[n in noise n]add0n; apply: many_steps => y; exact: tf.
apply: le_trans h1 _; apply: le_trans (steps_jensen (fun x => power (noise 0) (f x)) n m0 m1) _.
rewrite addnC /steps iterD; apply: steps_mono.
have tg : test (fun x => power (noise 0) (f x)).
  move=> x; rewrite /power sumr_ge0 /= => [|y _]; last by rewrite mulr_ge0 //; case/andP: (tf x y).
  by rewrite -[X in _ <= X]z1; apply: ler_sum => y _; rewrite ler_pimulr //; case/andP: (tf x y).
by have := many_steps 0 m tg; rewrite add0n.
Qed.
(* and one shift reaches it: the tail T(c) = P[X >= c] of the two-sided geometric law, c >= 1, and c <= 0 *)
Theorem one_shift_reaches_right (c : nat) : step (a ^+ c.+1 / (1 + a)) = a ^+ c / (1 + a).
Proof.
have [h0 h1] := andP a01; have p0 : 0 < 1 + a by exact: addr_gt0 ltr01 h0.
have na := lt0r_neq0 h0; have np := lt0r_neq0 p0.
have e : a ^+ c.+1 / (1 + a) / a = a ^+ c / (1 + a) by rewrite exprS; field; rewrite ?na ?np.
rewrite /step e; apply/min_idPl.
have -> : 1 - a * (1 - a ^+ c.+1 / (1 + a)) = (1 - a ^+ 2 + a ^+ c.+2) / (1 + a) by rewrite !exprS; field; rewrite ?na ?np.
apply: ler_wpmul2r; first by rewrite invr_ge0 ltW.
have -> : a ^+ c.+2 = a ^+ c * a ^+ 2 by rewrite -exprD addn2.
have c1 : a ^+ c <= 1 by rewrite exprn_ile1 // ltW.
have s1 : a ^+ 2 <= 1 by rewrite exprn_ile1 // ltW.
rewrite -subr_ge0; have -> : 1 - a ^+ 2 + a ^+ c * a ^+ 2 - a ^+ c = (1 - a ^+ 2) * (1 - a ^+ c) by ring.
by rewrite mulr_ge0 // subr_ge0.
Qed.
Theorem one_shift_reaches_left (c : nat) : step (1 - a ^+ c.+1 / (1 + a)) = 1 - a ^+ c.+2 / (1 + a).
Proof.
have [h0 h1] := andP a01; have p0 : 0 < 1 + a by exact: addr_gt0 ltr01 h0.
have na := lt0r_neq0 h0; have np := lt0r_neq0 p0.
have e : 1 - a * (1 - (1 - a ^+ c.+1 / (1 + a))) = 1 - a ^+ c.+2 / (1 + a) by rewrite [a ^+ c.+2]exprS; ring.
rewrite /step e; apply/min_idPr; rewrite ler_pdivl_mulr //.
rewrite -subr_ge0; have -> : 1 - a ^+ c.+1 / (1 + a) - (1 - a ^+ c.+2 / (1 + a)) * a =
  (1 - a) * (1 - a ^+ c.+1) by rewrite ![a ^+ _.+1]exprS; field; rewrite ?na ?np.
by rewrite mulr_ge0 // subr_ge0 // exprn_ile1 // ltW.
Qed.
End SplitShift.
(* Renyi: the moment of a shift by n steps is w y1^n + v y2^n with y1 = a^(1-alpha) and y2 = a^alpha; z = y2/y1 *)
Definition shift_moment (R : realFieldType) (a y1 z : R) n :=
  (1 - a) / (1 + a) * (y1 ^+ n / (1 - a) + y1 ^+ n * z ^+ n / (1 - a) + y1 ^+ n * (\sum_(i < n.-1) z ^+ i.+1)).
Lemma geometric_sum (R : realFieldType) (z : R) n : (1 - z) * (\sum_(i < n) z ^+ i.+1) = z - z ^+ n.+1.
Proof. by elim: n => [|n ih]; [rewrite big_ord0 mulr0 expr1 subrr | rewrite big_ord_recr /= mulrDr ih [z ^+ n.+2]exprS; ring]. Qed.
Theorem moment_closed (R : realFieldType) (a y1 z : R) n : 0 < a < 1 -> 0 < z < 1 ->
  shift_moment a y1 z n.+1 =
   (1 + z * (1 - a) / (1 - z)) / (1 + a) * y1 ^+ n.+1 + (a - z) / (1 - z) / (1 + a) * (y1 * z) ^+ n.+1.
Proof.
move=> /andP[a0 a1] /andP[z0 z1]; rewrite /shift_moment /= exprMn.
have n1 : 1 - z != 0 by rewrite subr_eq0 eq_sym lt_eqF.
have n2 : 1 - a != 0 by rewrite subr_eq0 eq_sym lt_eqF.
have n3 : 1 + a != 0 by rewrite lt0r_neq0 // (addr_gt0 ltr01 a0).
have -> : \sum_(i < n) z ^+ i.+1 = (z - z ^+ n.+1) / (1 - z) by rewrite -geometric_sum mulrC mulKf.
move: (y1 ^+ n.+1) (z ^+ n.+1) => Y Z.
by field; rewrite ?n1 ?n2 ?n3.
Qed.
Theorem split_moment (R : realFieldType) (w v y1 y2 : R) m n : 0 <= w -> 0 <= v -> w + v = 1 -> 0 <= y2 <= y1 ->
  (w * y1 ^+ m + v * y2 ^+ m) * (w * y1 ^+ n + v * y2 ^+ n) <= w * y1 ^+ (m + n) + v * y2 ^+ (m + n).
Proof.
move=> w0 v0 wv /andP[y0 yy]; rewrite -subr_ge0.
have p k : 0 <= y1 ^+ k - y2 ^+ k by rewrite subr_ge0 ler_expn2r // ?nnegrE // (le_trans y0).
have -> : w * y1 ^+ (m + n) + v * y2 ^+ (m + n) - (w * y1 ^+ m + v * y2 ^+ m) * (w * y1 ^+ n + v * y2 ^+ n) =
   w * v * ((y1 ^+ m - y2 ^+ m) * (y1 ^+ n - y2 ^+ n)).
  have -> : v = 1 - w by rewrite -wv addrC addKr.
  by rewrite !exprD; ring.
by rewrite !mulr_ge0.
Qed.
(* so a split shift has no larger Renyi moment: y1 = a^(1-alpha), z = a^(2 alpha - 1) <= a *)
Theorem split_renyi (R : realFieldType) (a y1 z : R) m n : 0 < a < 1 -> 0 < z <= a -> 0 <= y1 ->
  shift_moment a y1 z m.+1 * shift_moment a y1 z n.+1 <= shift_moment a y1 z (m.+1 + n.+1).
Proof.
move=> a01 /andP[z0 za] y0; have [a0 a1] := andP a01; have z1 : z < 1 := le_lt_trans za a1.
have z01 : 0 < z < 1 by rewrite z0.
rewrite addSn !moment_closed //.
have n1 : 0 < 1 - z by rewrite subr_gt0.
have n3 : 0 < 1 + a by exact: addr_gt0 ltr01 a0.
have d1 := lt0r_neq0 n1; have d3 := lt0r_neq0 n3.
apply: split_moment.
- apply: divr_ge0; last exact: ltW.
  apply: addr_ge0; first exact: ler01.
  by apply: divr_ge0; [apply: mulr_ge0; [exact: ltW | rewrite subr_ge0 ltW] | exact: ltW].
- by rewrite divr_ge0 ?(ltW n3) // divr_ge0 ?(ltW n1) // subr_ge0.
- by field; rewrite ?d1 ?d3.
- by rewrite mulr_ge0 ?(ltW z0) //= ler_pimulr // ltW.
Qed.
