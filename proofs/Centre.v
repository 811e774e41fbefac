(* The discrete Gaussian is worst at its centre: privacy/pricing/gdp.py `_lattice`. The last steps, in Coq's reals. *)
Require Import Reals Lra Psatz Lia.
Local Open Scope R_scope.

(* (b) a function that is not positive at X, positive later, and convex after X, stays positive: no later cell can make good
   for one cell that is too heavy. Convexity in the three-point form. *)
Definition convex_from (X : R) (r : R -> R) := forall a b c, X <= a -> a < b -> b < c ->
  (c - a) * r b <= (c - b) * r a + (b - a) * r c.
Lemma convex_stays (r : R -> R) X x y : convex_from X r -> r X <= 0 -> X < x -> 0 < r x -> x <= y -> 0 < r y.
Proof.
intros cv rX Xx rx xy. destruct xy as [xy|<-]; [|exact rx].
assert (h := cv X x y (Rle_refl X) Xx xy). assert ((y - x) * r X <= 0) by nra. nra.
Qed.

Fixpoint sum (f : nat -> R) n := match n with O => 0 | S m => sum f m + f m end.
Lemma sum_pos f n : (forall i, (i < n)%nat -> 0 < f i) -> (0 < n)%nat -> 0 < sum f n.
Proof.
induction n as [|n ih]; intros h p; [lia|]. simpl. destruct n as [|n].
- simpl. assert (a := h O ltac:(lia)). lra.
- assert (0 < sum f (S n)) by (apply ih; [intros; apply h; lia | lia]). assert (a := h (S n) ltac:(lia)). lra.
Qed.

(* (c) the theorem's core. p: masses from cell k on, q: Gaussian cells of width d from z_k on, r = ln p - ln q seen from x0;
   if tails agree (up to any eta, for infinitely many cells), no first cell can be too heavy. *)
Theorem no_heavy_cell (p q : nat -> R) (r : R -> R) (X x0 : R) :
  (forall j, 0 < q j) -> (forall j, p j = q j * exp (r (x0 + INR j))) ->
  convex_from X r -> r X <= 0 -> X <= x0 ->
  (forall eta, 0 < eta -> exists n, (0 < n)%nat /\ sum (fun j => p j - q j) n <= eta) ->   (* equal tails *)
  p O <= q O.
Proof.
intros q0 pq cv rX Xx tails. apply Rnot_lt_le. intro heavy.
assert (r0 : 0 < r x0).
{ assert (h := pq O). simpl in h. rewrite Rplus_0_r in h. apply Rnot_le_lt. intro c.
  assert (exp (r x0) <= 1) by (rewrite <- exp_0; destruct c as [c|c]; [left; apply exp_increasing; exact c | rewrite c; right; reflexivity]).
  assert (a := q0 O). nra. }
assert (Xlt : X < x0) by (destruct Xx as [|e]; [assumption | subst; lra]).
assert (pos : forall j, 0 < p j - q j).
{ intro j. assert (0 < r (x0 + INR j)) by (apply (convex_stays r X x0); auto; assert (h := pos_INR j); lra).
  rewrite pq. assert (1 < exp (r (x0 + INR j))) by (rewrite <- exp_0; apply exp_increasing; assumption).
  assert (a := q0 j). nra. }
destruct (tails ((p O - q O) / 2)) as [n [n0 hn]]; [assert (a := pos O); lra|].
assert (mono : forall m, (0 < m)%nat -> p O - q O <= sum (fun j => p j - q j) m).
{ induction m as [|m ih]; intro h; [lia|]. simpl. destruct m as [|m]; [simpl; lra|].
  assert (a := ih ltac:(lia)). assert (b := pos (S m)). simpl in *. lra. }
assert (a := mono n n0). assert (b := pos O). lra.
Qed.

(* (d) the shift by j0 >= 0 only lowers r: r = rc - j0(2x + j0)/2s2 is convex wherever rc is, and not positive at X *)
Theorem shifted (rc : R -> R) X j0 s2 : 0 < s2 -> 0 <= j0 -> 0 <= X -> rc X <= 0 -> convex_from X rc ->
  let r := fun x => rc x - j0 * (2 * x + j0) / (2 * s2) in r X <= 0 /\ convex_from X r /\ forall x, 0 <= x -> r x <= rc x.
Proof.
intros s0 j00 X0 rX cv r. assert (i0 : 0 < / (2 * s2)) by (apply Rinv_0_lt_compat; lra).
assert (neg : forall x, 0 <= x -> r x <= rc x).
{ intros x hx. unfold r, Rdiv. assert (0 <= j0 * (2 * x + j0)) by nra. assert (0 <= j0 * (2 * x + j0) * / (2 * s2)) by (apply Rmult_le_pos; lra). lra. }
split; [|split; [|exact neg]].
- assert (h := neg X X0). lra.
- intros a b c ha ab bc. assert (h := cv a b c ha ab bc). unfold r, Rdiv.
  replace ((c - a) * (rc b - j0 * (2 * b + j0) * / (2 * s2))) with ((c - a) * rc b - j0 * ((c - a) * (2 * b + j0)) * / (2 * s2)) by ring.
  replace ((c - b) * (rc a - j0 * (2 * a + j0) * / (2 * s2)) + (b - a) * (rc c - j0 * (2 * c + j0) * / (2 * s2)))
    with ((c - b) * rc a + (b - a) * rc c - j0 * ((c - a) * (2 * b + j0)) * / (2 * s2)) by ring. lra.
Qed.

(* (e) the closed factor 1 + 1/(11 s2), in the code for s2 >= 16, here for s2 >= 100/48: with y = 1/s2 and D^2 = y(1 + y/11), D - D^3/24 >= sqrt y.
   Since phi(u) >= (1 - u^2/2)/sqrt(2 pi), a cell of width D at 0 then weighs at least 1/(s sqrt(2 pi)) > P[X = 0]. *)
Theorem closed_factor y D : 0 <= y <= 48 / 100 -> 0 <= D -> D * D = y * (1 + y / 11) -> sqrt y <= D - D * D * D / 24.
Proof.
intros [y0 y1] D0 DD. assert (s := sqrt_sqrt y y0). assert (s0 := sqrt_pos y).
assert (D1 : D * D <= 1) by nra.
assert (pos : 0 <= D - D * D * D / 24) by (replace (D - D * D * D / 24) with (D * (1 - D * D / 24)) by field; apply Rmult_le_pos; lra).
apply Rsqr_incr_0_var; [|exact pos]. unfold Rsqr. rewrite s.
replace ((D - D * D * D / 24) * (D - D * D * D / 24)) with (D * D * ((1 - D * D / 24) * (1 - D * D / 24))) by field.
rewrite DD.
set (a := y * (1 + y / 11) / 24). assert (a0 : 0 <= a) by (unfold a; nra).
assert (e : (1 - y * (1 + y / 11) / 24) * (1 - y * (1 + y / 11) / 24) >= 1 - 2 * a) by (fold a; nra).
assert (k : (1 + y / 11) * (1 - 2 * a) >= 1).
{ unfold a. replace ((1 + y / 11) * (1 - 2 * (y * (1 + y / 11) / 24))) with (1 + y / 132 * (1 - 2 * y - y * y / 11)) by field.
  assert (0 <= 1 - 2 * y - y * y / 11) by nra. nra. }
assert (g : 0 <= y * (1 + y / 11)) by nra.
apply Rle_trans with (y * (1 + y / 11) * (1 - 2 * a)).
- replace (y * (1 + y / 11) * (1 - 2 * a)) with (y * ((1 + y / 11) * (1 - 2 * a))) by ring. nra.
- apply Rmult_le_compat_l; [exact g | apply Rge_le; exact e].
Qed.

(* the closed lattice factor 1 + 1/(11 s2) of privacy/pricing/gdp.py, used there from s2 = 16 on *)
Definition LATTICE_DENOMINATOR : Z := 11%Z.
Definition LATTICE_FROM : Z := 16%Z.
Theorem lattice_factor s2 D : IZR LATTICE_FROM <= s2 -> 0 <= D ->
  D * D = / s2 * (1 + / (IZR LATTICE_DENOMINATOR * s2)) -> sqrt (/ s2) <= D - D * D * D / 24.
Proof.
unfold LATTICE_FROM, LATTICE_DENOMINATOR; intros h D0 e. assert (p : 0 < s2) by lra. assert (i := Rinv_0_lt_compat _ p).
assert (u : / s2 <= / 16) by (apply Rinv_le_contravar; lra).
apply closed_factor; [lra | exact D0 |]. rewrite e. field. lra.
Qed.
