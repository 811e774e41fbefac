(* Row 51: rho of every eps-DP mechanism is eps tanh(eps/2), and eps²/8 for bounded range (privacy/pricing/zcdp.py). *)
Require Import Reals Lra Psatz List.
From Coquelicot Require Import Coquelicot.
Require Import Tail.
Local Open Scope R_scope.
(* z^alpha >= 1 + alpha (z - 1), from the weighted means of Tail.v *)
Lemma bernoulli alpha z : 1 <= alpha -> 0 < z -> 1 + alpha * (z - 1) <= exp (alpha * ln z).
Proof.
intros a1 z0. assert (a0 : 0 < alpha) by lra. assert (i0 := Rinv_0_lt_compat _ a0).
assert (i1 : / alpha <= 1) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
set (y := exp (alpha * ln z)). assert (y0 : 0 < y) by apply exp_pos.
assert (c := ln_concave (/ alpha) y 1 y0 ltac:(lra) ltac:(lra)).
rewrite ln_1, Rmult_0_r, Rplus_0_r in c. unfold y at 1 in c. rewrite ln_exp in c.
replace (/ alpha * (alpha * ln z)) with (ln z) in c by (field; lra).
assert (m0 : 0 < / alpha * y + (1 - / alpha) * 1) by nra.
assert (z <= / alpha * y + (1 - / alpha) * 1).
{ rewrite <- (exp_ln z z0), <- (exp_ln _ m0). destruct c as [c|c]; [left; apply exp_increasing; exact c | rewrite c; lra]. }
apply (Rmult_le_compat_l alpha) in H; [|lra].
replace (alpha * (/ alpha * y + (1 - / alpha) * 1)) with (y + alpha - 1) in H by (field; lra). lra.
Qed.
Definition pow_real z alpha := exp (alpha * ln z).
(* r^alpha lies below its chord *)
Lemma chord alpha a b r : 1 <= alpha -> 0 < a -> a <= r <= b -> (b - a) * pow_real r alpha <= (b - r) * pow_real a alpha + (r - a) * pow_real b alpha.
Proof.
intros a1 a0 [ar rb]. assert (r0 : 0 < r) by lra. assert (b0 : 0 < b) by lra.
assert (tangent : forall y, 0 < y -> pow_real r alpha * (1 + alpha * (y / r - 1)) <= pow_real y alpha).
{ intros y y0. assert (q : 0 < y / r) by (apply Rdiv_lt_0_compat; assumption).
  assert (B := bernoulli alpha (y / r) a1 q). unfold pow_real.
  replace (exp (alpha * ln y)) with (exp (alpha * ln r) * exp (alpha * ln (y / r))).
  - apply Rmult_le_compat_l; [left; apply exp_pos | exact B].
  - rewrite <- exp_plus. f_equal. unfold Rdiv. rewrite ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; assumption). ring. }
assert (ta := tangent a a0). assert (tb := tangent b b0).
assert (E : (b - r) * (pow_real r alpha * (1 + alpha * (a / r - 1))) + (r - a) * (pow_real r alpha * (1 + alpha * (b / r - 1))) = (b - a) * pow_real r alpha) by (field; lra).
rewrite <- E. apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
Qed.
(* a law as a list of (q, r): chance under D', ratio p/q; ratios lie in [a, b] *)
Definition mean_of (f : R -> R) (l : list (R * R)) := fold_right (fun x acc => fst x * f (snd x) + acc) 0 l.
Lemma below_chord alpha a b l : 1 <= alpha -> 0 < a -> a <= b ->
  (forall x, In x l -> 0 <= fst x /\ a <= snd x <= b) ->
  (b - a) * mean_of (fun r => pow_real r alpha) l <=
  (b * mean_of (fun _ => 1) l - mean_of (fun r => r) l) * pow_real a alpha + (mean_of (fun r => r) l - a * mean_of (fun _ => 1) l) * pow_real b alpha.
Proof.
intros a1 a0 ab. induction l as [|[q r] l ih]; intro h; simpl; [lra|].
assert (i := ih (fun x hx => h x (or_intror hx))). destruct (h (q, r) (or_introl eq_refl)) as [q0 rr]. simpl in *.
assert (c := chord alpha a b r a1 a0 rr). assert (qc := Rmult_le_compat_l q _ _ q0 c). lra.
Qed.
(* the two-point law with ratios a, b that has mean 1 is the worst *)
Theorem two_points alpha a b l : 1 <= alpha -> 0 < a -> a < b ->
  (forall x, In x l -> 0 <= fst x /\ a <= snd x <= b) -> mean_of (fun _ => 1) l = 1 -> mean_of (fun r => r) l = 1 ->
  mean_of (fun r => pow_real r alpha) l <= ((b - 1) * pow_real a alpha + (1 - a) * pow_real b alpha) / (b - a).
Proof.
intros a1 a0 ab h one mean. assert (c := below_chord alpha a b l a1 a0 (Rlt_le _ _ ab) h). rewrite one, mean, !Rmult_1_r in c.
apply (Rmult_le_reg_l (b - a)); [lra|].
replace ((b - a) * (((b - 1) * pow_real a alpha + (1 - a) * pow_real b alpha) / (b - a))) with ((b - 1) * pow_real a alpha + (1 - a) * pow_real b alpha) by (field; lra).
exact c.
Qed.
Lemma grows (f df : R -> R) a b : a <= b -> (forall x, a <= x <= b -> is_derive f x (df x)) ->
  (forall x, a <= x <= b -> 0 <= df x) -> f a <= f b.
Proof.
intros ab d s. destruct (MVT_gen f a b df) as [c [hc e]].
- intros x hx. apply d. rewrite Rmin_left, Rmax_right in hx by exact ab. lra.
- intros x hx. rewrite Rmin_left, Rmax_right in hx by exact ab. apply continuity_pt_filterlim.
  apply (ex_derive_continuous f x). exists (df x). apply d. exact hx.
- rewrite Rmin_left, Rmax_right in hc by exact ab. assert (p := s c hc). nra.
Qed.
(* bounded range: ratios a and a e^eps with weights u, v: ln(u a^x + v b^x) is 0 at 0 and 1 with second derivative <= eps²/4 *)
Section Range.
Variables (u v la lb : R).
Hypothesis u0 : 0 <= u. Hypothesis v0 : 0 <= v. Hypothesis uv : u + v = 1.
Hypothesis unit : u * exp la + v * exp lb = 1.
Definition Z x := u * exp (x * la) + v * exp (x * lb).
Definition Z1 x := u * la * exp (x * la) + v * lb * exp (x * lb).
Definition eps := lb - la.
Lemma Z_pos x : 0 < Z x.
Proof.
unfold Z. assert (p := exp_pos (x * la)). assert (q := exp_pos (x * lb)).
destruct (Rle_lt_or_eq_dec 0 u u0) as [h|h]; [assert (0 <= v * exp (x * lb)) by nra; nra | assert (v = 1) by lra; subst; nra].
Qed.
Definition H x := x * (x - 1) * eps ^ 2 / 8 - ln (Z x).
Definition H1 x := (2 * x - 1) * eps ^ 2 / 8 - Z1 x / Z x.
Definition H2 x := eps ^ 2 / 4 - u * exp (x * la) * (v * exp (x * lb)) * eps ^ 2 / Z x ^ 2.
Lemma dH x : is_derive H x (H1 x).
Proof. assert (p := Z_pos x). unfold H, H1, Z1, Z in *. auto_derive; [exact p|]. field. lra. Qed.
Lemma dH1 x : is_derive H1 x (H2 x).
Proof. assert (p := Z_pos x). unfold H1, H2, Z1, Z, eps in *. auto_derive; [split; [lra|exact I] || lra|]. field. lra. Qed.
Lemma H2_pos x : 0 <= H2 x.
Proof.
assert (p := Z_pos x). unfold H2. set (A := u * exp (x * la)). set (B := v * exp (x * lb)).
change (Z x) with (A + B) in *. 
assert (A * B * eps ^ 2 / (A + B) ^ 2 <= eps ^ 2 / 4).
{ apply (Rmult_le_reg_r ((A + B) ^ 2)); [nra|].
  replace (A * B * eps ^ 2 / (A + B) ^ 2 * (A + B) ^ 2) with (A * B * eps ^ 2) by (field; lra).
  replace (eps ^ 2 / 4 * (A + B) ^ 2) with (A * B * eps ^ 2 + eps ^ 2 * (A - B) ^ 2 / 4) by field.
  assert (0 <= eps ^ 2 * (A - B) ^ 2) by (apply Rmult_le_pos; apply pow2_ge_0). lra. }
lra.
Qed.
Theorem bounded_range x : 1 <= x -> ln (Z x) <= x * (x - 1) * eps ^ 2 / 8.
Proof.
intro x1.
assert (h0 : H 0 = 0) by (unfold H, Z; rewrite !Rmult_0_l, exp_0, !Rmult_1_r, uv, ln_1; unfold Rdiv; ring).
assert (h1 : H 1 = 0) by (unfold H, Z; rewrite !Rmult_1_l, unit, ln_1; unfold Rdiv; ring).
assert (cont : forall z, continuity_pt H z).
{ intro z. apply continuity_pt_filterlim. apply (ex_derive_continuous H z). exists (H1 z). apply dH. }
destruct (MVT_gen H 0 1 H1) as [c [hc e]]; [intros; apply dH | intros; apply cont |].
rewrite Rmin_left, Rmax_right in hc by lra. rewrite h0, h1 in e.
assert (c0 : H1 c = 0) by lra.
assert (g : H 1 <= H x).
{ apply (grows H H1 1 x x1); [intros; apply dH|]. intros y hy. rewrite <- c0.
  apply (grows H1 H2 c y); [lra | intros; apply dH1 | intros; apply H2_pos]. }
rewrite h1 in g. unfold H in g. lra.
Qed.
End Range.
(* randomized response: ln(cosh((x - 1/2) e)/cosh(e/2)) <= x (x - 1) e tanh(e/2) *)
Definition c x := (exp x + exp (- x)) / 2.
Definition s x := (exp x - exp (- x)) / 2.
Lemma c_pos x : 0 < c x. Proof. unfold c. assert (p := exp_pos x). assert (q := exp_pos (- x)). lra. Qed.
Lemma c_s x : c x ^ 2 - s x ^ 2 = 1.
Proof. unfold c, s. assert (e : exp x * exp (- x) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0). nra. Qed.
Lemma c_ge1 x : 1 <= c x. Proof. assert (p := c_pos x). assert (q := c_s x). assert (r := pow2_ge_0 (s x)). nra. Qed.
Lemma d_s x : is_derive s x (c x). Proof. unfold s, c. auto_derive; [exact I | field]. Qed.
Lemma d_c x : is_derive c x (s x). Proof. unfold s, c. auto_derive; [exact I | field]. Qed.
Lemma s_ge x : 0 <= x -> x <= s x.
Proof.
intro x0. assert (g := grows (fun x => s x - x) (fun x => c x - 1) 0 x x0). simpl in g.
assert (s 0 = 0) by (unfold s; rewrite Ropp_0; field). 
assert (s 0 - 0 <= s x - x); [|lra]. apply g; [|intros; assert (q := c_ge1 x1); lra].
intros y _. apply (is_derive_minus s (fun x => x) y (c y) 1); [apply d_s | apply (is_derive_id y)].
Qed.
Lemma s_ge0 x : 0 <= x -> 0 <= s x. Proof. intro h. assert (q := s_ge x h). lra. Qed.
Lemma c_mono x y : 0 <= x <= y -> c x <= c y.
Proof. intros [x0 xy]. apply (grows c s x y xy); [intros; apply d_c | intros z hz; apply s_ge0; lra]. Qed.
Lemma x_le_sc x : 0 <= x -> x <= s x * c x.
Proof. intro h. assert (a := s_ge x h). assert (b := c_ge1 x). nra. Qed.
(* tanh(r x) <= r tanh x for r >= 1 *)
Lemma tanh_sub x r : 0 < x -> 1 <= r -> s (r * x) / c (r * x) <= r * (s x / c x).
Proof.
intros x0 r1.
assert (d : forall t, is_derive (fun t => t * (s x / c x) - s (t * x) / c (t * x)) t (s x / c x - x / c (t * x) ^ 2)).
{ intro t. assert (p := c_pos (t * x)). assert (q := c_s (t * x)). assert (w := c_pos x).
  replace (s x / c x - x / c (t * x) ^ 2) with (s x / c x - x * (c (t * x) * c (t * x) - s (t * x) * s (t * x)) / c (t * x) ^ 2).
  2: { replace (c (t * x) * c (t * x) - s (t * x) * s (t * x)) with 1 by (simpl in q; lra). field. split; lra. }
  unfold s, c in *. auto_derive; [split; [lra | exact I] || lra |]. field. split; lra. }
assert (g := grows _ _ 1 r r1 (fun t _ => d t)). simpl in g.
assert (G : 1 * (s x / c x) - s (1 * x) / c (1 * x) <= r * (s x / c x) - s (r * x) / c (r * x)).
{ apply g. intros t ht. assert (m := c_mono x (t * x) ltac:(nra)). assert (p := c_pos x). assert (q := x_le_sc x (Rlt_le _ _ x0)).
  cbv beta. assert (W : x / c (t * x) ^ 2 <= s x / c x); [|simpl in *; lra].
  apply Rle_trans with (x / c x ^ 2).
  - unfold Rdiv. apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; [nra|]. apply pow_incr. lra.
  - apply (Rmult_le_reg_r (c x ^ 2)); [nra|]. replace (x / c x ^ 2 * c x ^ 2) with x by (field; lra).
    replace (s x / c x * c x ^ 2) with (s x * c x) by (field; lra). exact q. }
rewrite !Rmult_1_l in G. lra.
Qed.
Lemma d_lnc x : is_derive (fun x => ln (c x)) x (s x / c x).
Proof. assert (p := c_pos x). unfold s, c in *. auto_derive; [exact p|]. field. lra. Qed.
Theorem response_rho e x : 0 < e -> 1 <= x -> ln (c ((x - / 2) * e)) - ln (c (e / 2)) <= x * (x - 1) * (e * (s (e / 2) / c (e / 2))).
Proof.
intros e0 x1. set (k := e * (s (e / 2) / c (e / 2))).
assert (d : forall t, is_derive (fun t => t * (t - 1) * k - ln (c ((t - / 2) * e))) t ((2 * t - 1) * k - e * (s ((t - / 2) * e) / c ((t - / 2) * e)))).
{ intro t. apply (is_derive_minus (fun t => t * (t - 1) * k) (fun t => ln (c ((t - / 2) * e))) t).
  - auto_derive; [exact I | ring].
  - apply (is_derive_comp (fun x => ln (c x)) (fun t => (t - / 2) * e) t); [apply d_lnc | auto_derive; [exact I | ring]]. }
assert (g := grows _ _ 1 x x1 (fun t _ => d t)). simpl in g.
assert (G : 1 * (1 - 1) * k - ln (c ((1 - / 2) * e)) <= x * (x - 1) * k - ln (c ((x - / 2) * e))).
{ apply g. intros t ht. assert (T := tanh_sub (e / 2) (2 * t - 1) ltac:(lra) ltac:(lra)).
  replace ((2 * t - 1) * (e / 2)) with ((t - / 2) * e) in T by field. unfold k. nra. }
replace ((1 - / 2) * e) with (e / 2) in G by field. lra.
Qed.
(* every law with ratios in e^-eps .. e^eps has Renyi moment at most e^(alpha (alpha-1) rho), rho = eps tanh(eps/2) *)
Theorem pure_rho e alpha l : 0 < e -> 1 <= alpha ->
  (forall x, In x l -> 0 <= fst x /\ exp (- e) <= snd x <= exp e) -> mean_of (fun _ => 1) l = 1 -> mean_of (fun r => r) l = 1 ->
  mean_of (fun r => pow_real r alpha) l <= exp (alpha * (alpha - 1) * (e * (s (e / 2) / c (e / 2)))).
Proof.
intros e0 a1 h one mean.
assert (ab : exp (- e) < exp e) by (apply exp_increasing; lra).
assert (T := two_points alpha (exp (- e)) (exp e) l a1 (exp_pos _) ab h one mean).
apply Rle_trans with (1 := T).
assert (R := response_rho e alpha e0 a1).
assert (p := c_pos ((alpha - / 2) * e)). assert (q := c_pos (e / 2)).
assert (E : ((exp e - 1) * pow_real (exp (- e)) alpha + (1 - exp (- e)) * pow_real (exp e) alpha) / (exp e - exp (- e)) =
  c ((alpha - / 2) * e) / c (e / 2)).
{ unfold pow_real, c. rewrite !ln_exp. set (k := exp ((alpha - / 2) * e)). set (g := exp (e / 2)).
  assert (k0 : 0 < k) by apply exp_pos. assert (g1 : 1 < g) by (unfold g; rewrite <- exp_0; apply exp_increasing; lra).
  replace (exp e) with (g * g) in * by (unfold g; rewrite <- exp_plus; f_equal; field).
  replace (exp (- e)) with (/ g * / g) in * by (unfold g; rewrite <- !exp_Ropp, <- exp_plus; f_equal; field).
  replace (exp (alpha * e)) with (k * g) by (unfold k, g; rewrite <- exp_plus; f_equal; field).
  replace (exp (alpha * - e)) with (/ k * / g) by (unfold k, g; rewrite <- !exp_Ropp, <- exp_plus; f_equal; field).
  replace (exp (- ((alpha - / 2) * e))) with (/ k) by (unfold k; rewrite <- exp_Ropp; reflexivity).
  replace (exp (- (e / 2))) with (/ g) by (unfold g; rewrite <- exp_Ropp; reflexivity).
  clearbody k g. clear - k0 g1. assert (g2 : 1 < g * g) by nra. assert (g4 : 1 < g * g * (g * g)) by (apply Rlt_trans with (1 := g2); nra).
  field. repeat split; nra. }
rewrite E. rewrite <- (exp_ln (c ((alpha - / 2) * e) / c (e / 2))) by (apply Rdiv_lt_0_compat; assumption).
assert (L : ln (c ((alpha - / 2) * e) / c (e / 2)) <= alpha * (alpha - 1) * (e * (s (e / 2) / c (e / 2)))).
{ unfold Rdiv at 1. rewrite ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; assumption). lra. }
destruct L as [L|L]; [left; apply exp_increasing; exact L | right; f_equal; exact L].
Qed.
(* every law with ratios in a .. a e^eps: rho = eps²/8 *)
Theorem range_rho a e alpha l : 0 < a -> 0 < e -> 1 <= alpha -> a <= 1 <= a * exp e ->
  (forall x, In x l -> 0 <= fst x /\ a <= snd x <= a * exp e) -> mean_of (fun _ => 1) l = 1 -> mean_of (fun r => r) l = 1 ->
  mean_of (fun r => pow_real r alpha) l <= exp (alpha * (alpha - 1) * e ^ 2 / 8).
Proof.
intros a0 e0 a1 [al ar] h one mean. set (b := a * exp e).
assert (g : 1 < exp e) by (rewrite <- exp_0; apply exp_increasing; exact e0).
assert (ab : a < b) by (unfold b; nra).
assert (T := two_points alpha a b l a1 a0 ab h one mean). apply Rle_trans with (1 := T).
set (u := (b - 1) / (b - a)). set (v := (1 - a) / (b - a)).
assert (u0 : 0 <= u) by (unfold u, Rdiv; apply Rmult_le_pos; [unfold b; lra | left; apply Rinv_0_lt_compat; lra]).
assert (v0 : 0 <= v) by (unfold v, Rdiv; apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]).
assert (uv : u + v = 1) by (unfold u, v; field; lra).
assert (b0 : 0 < b) by lra.
assert (un : u * exp (ln a) + v * exp (ln b) = 1) by (rewrite !exp_ln by assumption; unfold u, v; field; lra).
assert (B := bounded_range u v (ln a) (ln b) u0 v0 uv un alpha a1).
assert (le : eps (ln a) (ln b) = e) by (unfold eps, b; rewrite ln_mult, ln_exp by (try apply exp_pos; assumption); ring).
rewrite le in B.
assert (E : ((b - 1) * pow_real a alpha + (1 - a) * pow_real b alpha) / (b - a) = Z u v (ln a) (ln b) alpha).
{ unfold Z, u, v, pow_real. field. lra. }
rewrite E, <- (exp_ln (Z u v (ln a) (ln b) alpha)) by (apply Z_pos; assumption).
destruct B as [B|B]; [left; apply exp_increasing; exact B | right; f_equal; exact B].
Qed.
