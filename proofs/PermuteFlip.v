(* Permute-and-flip (mechanisms/selection/permute_and_flip.py, noise/permute.py). With weights w > 0, w* their maximum, the
   chance of option o is  w_o * RInt_0^(1/w star) prod_(r <> o) (1 - w_r u) du : flip every coin w_r/w star, choose among heads.
   If all weights move by at most a factor c = e^(eps/2), the chance moves by at most c^2. *)
Require Import Reals Lra Psatz List.
From Coquelicot Require Import Coquelicot.
Local Open Scope R_scope.

Definition prod (ws : list R) (u : R) : R := fold_right (fun w acc => (1 - w * u) * acc) 1 ws.
Definition chance (w : R) (ws : list R) (top : R) : R := w * RInt (prod ws) 0 (/ top).

Lemma prod_continuous ws u : continuous (prod ws) u.
Proof.
induction ws as [|w ws ih]; [apply continuous_const|].
apply (continuous_mult (fun u => 1 - w * u) (prod ws)); [|exact ih].
apply (continuous_minus (fun _ => 1) (fun u => w * u)); [apply continuous_const|].
apply (continuous_mult (fun _ => w) (fun u => u)); [apply continuous_const | apply continuous_id].
Qed.
Lemma prod_int ws a b : ex_RInt (prod ws) a b.
Proof. apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros; apply prod_continuous. Qed.
Lemma prod_ge0 ws u : (forall w, In w ws -> w * u <= 1) -> 0 <= prod ws u.
Proof.
induction ws as [|w ws ih]; intro h; [simpl; lra|].
simpl. apply Rmult_le_pos; [assert (a := h w (or_introl eq_refl)); lra | apply ih; intros; apply h; right; assumption].
Qed.
(* heavier competitors make the product smaller *)
Lemma prod_le (ws vs : list R) u : 0 <= u -> Forall2 Rle ws vs -> (forall v, In v vs -> v * u <= 1) -> prod vs u <= prod ws u.
Proof.
intros u0 f; induction f as [|w v ws vs wv f ih]; intro h; [simpl; lra|].
simpl. assert (hv := h v (or_introl eq_refl)). assert (hs : forall x, In x vs -> x * u <= 1) by (intros; apply h; right; assumption).
apply Rmult_le_compat; [nra | apply prod_ge0; exact hs | nra | apply ih; exact hs].
Qed.
Lemma prod_scale c ws u : prod (map (Rmult c) ws) u = prod ws (c * u).
Proof. induction ws as [|w ws ih]; simpl; [reflexivity|]. rewrite ih. replace (c * w * u) with (w * (c * u)) by ring. reflexivity. Qed.

Theorem permute_and_flip c w v ws vs top top' : 1 <= c -> 0 < w -> 0 < top -> 0 < top' ->
  w <= c * v -> top' <= c * top -> Forall2 (fun x y => y <= c * x) ws vs ->
  (forall x, In x ws -> 0 <= x <= top) -> (forall y, In y vs -> 0 <= y <= top') ->
  chance w ws top <= c * c * chance v vs top'.
Proof.
intros c1 w0 t0 t0' wv tt f hw hv. unfold chance.
assert (c0 : 0 < c) by lra. assert (v0 : 0 < v) by nra.
(* on 0 .. 1/(c top) the products of vs are at least those of c ws *)
assert (le1 : RInt (prod (map (Rmult c) ws)) 0 (/ (c * top)) <= RInt (prod vs) 0 (/ (c * top))).
{ assert (p : 0 < c * top) by nra. assert (ip := Rinv_0_lt_compat _ p).
  apply RInt_le; [lra | apply prod_int | apply prod_int |].
  intros u [u0 u1]. apply prod_le; [lra | clear - f; induction f; simpl; constructor; assumption |].
  intros y hy. apply in_map_iff in hy. destruct hy as [x [<- hx]]. assert (b := hw x hx).
  assert (e : c * top * / (c * top) = 1) by (apply Rinv_r; lra).
  apply Rle_trans with (c * top * / (c * top)); [apply Rmult_le_compat; nra | lra]. }
(* and the interval for vs is at least as long *)
assert (le2 : RInt (prod vs) 0 (/ (c * top)) <= RInt (prod vs) 0 (/ top')).
{ assert (p : / (c * top) <= / top') by (apply Rinv_le_contravar; lra).
  assert (ip := Rinv_0_lt_compat _ t0').
  rewrite <- (RInt_Chasles (prod vs) 0 (/ (c * top)) (/ top')) by apply prod_int.
  assert (0 <= RInt (prod vs) (/ (c * top)) (/ top')).
  { apply RInt_ge_0; [exact p | apply prod_int |]. intros u [u0 u1]. apply prod_ge0. intros y hy.
    assert (b := hv y hy). assert (0 < / (c * top)) by (apply Rinv_0_lt_compat; nra).
    assert (e : top' * / top' = 1) by (apply Rinv_r; lra).
    apply Rle_trans with (top' * / top'); [apply Rmult_le_compat; lra | lra]. }
  change (plus ?a ?b) with (a + b). unfold plus; simpl. lra. }
(* substitution u = t/c *)
assert (eq : RInt (prod (map (Rmult c) ws)) 0 (/ (c * top)) = / c * RInt (prod ws) 0 (/ top)).
{ assert (I := RInt_correct _ _ _ (prod_int ws (c * 0 + 0) (c * / (c * top) + 0))).
  assert (J := is_RInt_scal _ _ _ (/ c) _ (is_RInt_comp_lin _ _ _ _ _ _ I)).
  apply is_RInt_unique. replace (/ c * RInt (prod ws) 0 (/ top)) with
    (scal (/ c) (RInt (prod ws) (c * 0 + 0) (c * / (c * top) + 0))).
  2: { unfold scal; simpl; unfold mult; simpl. f_equal. f_equal; [ring | field; lra]. }
  apply (is_RInt_ext _ _ _ _ _) with (2 := J). intros u _. rewrite prod_scale, Rplus_0_r.
  unfold scal; simpl; unfold mult; simpl. field. lra. }
rewrite eq in le1.
assert (i0 : 0 <= RInt (prod ws) 0 (/ top)).
{ assert (ip := Rinv_0_lt_compat _ t0). apply RInt_ge_0; [lra | apply prod_int |]. intros u [u0 u1]. apply prod_ge0. intros x hx.
  assert (b := hw x hx). assert (e : top * / top = 1) by (apply Rinv_r; lra).
  apply Rle_trans with (top * / top); [apply Rmult_le_compat; lra | lra]. }
assert (fin : RInt (prod ws) 0 (/ top) <= c * RInt (prod vs) 0 (/ top')).
{ apply Rmult_le_reg_l with (/ c); [apply Rinv_0_lt_compat; lra|].
  rewrite <- Rmult_assoc, Rinv_l, Rmult_1_l by lra. apply Rle_trans with (1 := le1). exact le2. }
apply Rle_trans with ((c * v) * (c * RInt (prod vs) 0 (/ top'))); [apply Rmult_le_compat; lra | right; ring].
Qed.

(* Row 33: all coins at once. heads k ps: k heads so far (the option itself is one of them), coins of bias p still to fall; one of
   all heads is drawn uniformly. Its chance is the integral of row 32: prod (1 - p u) over 0..1. *)
Fixpoint drawn (k : nat) (ps : list R) : R := match ps with
  | nil => / INR (S k) | p :: rest => p * drawn (S k) rest + (1 - p) * drawn k rest end.
Fixpoint falls (ps : list R) (t : R) : R := match ps with nil => 1 | p :: rest => (1 - p + p * t) * falls rest t end.
Lemma falls_continuous ps t : continuous (falls ps) t.
Proof.
induction ps as [|p ps ih]; [apply continuous_const|].
apply (continuous_mult (fun t => 1 - p + p * t) (falls ps)); [|exact ih].
apply (continuous_plus (fun _ => 1 - p) (fun t => p * t)); [apply continuous_const|].
apply (continuous_mult (fun _ => p) (fun t => t)); [apply continuous_const | apply continuous_id].
Qed.
Lemma power_continuous k t : continuous (fun t => t ^ k) t.
Proof. apply (ex_derive_continuous (fun t => t ^ k)). auto_derive. exact I. Qed.
Lemma falls_int k ps : ex_RInt (fun t => t ^ k * falls ps t) 0 1.
Proof.
apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros t _.
apply (continuous_mult (fun t => t ^ k) (falls ps)); [apply power_continuous | apply falls_continuous].
Qed.
Lemma power_int k : is_RInt (fun t => t ^ k) 0 1 (/ INR (S k)).
Proof.
assert (n : INR (S k) <> 0) by (apply not_0_INR; discriminate).
assert (I := is_RInt_derive (fun t => t ^ S k / INR (S k)) (fun t => t ^ k) 0 1).
assert (e : minus (1 ^ S k / INR (S k)) (0 ^ S k / INR (S k)) = / INR (S k)).
{ unfold minus, plus, opp; simpl plus. rewrite pow1, pow_i by auto with arith. simpl. field. exact n. }
rewrite <- e. apply I.
- intros t _. auto_derive; [exact Logic.I|]. simpl Nat.pred. field. exact n.
- intros t _. apply power_continuous.
Qed.
Theorem all_coins_at_once ps : forall k, drawn k ps = RInt (fun t => t ^ k * falls ps t) 0 1.
Proof.
induction ps as [|p ps ih]; intro k; simpl.
- symmetry. apply is_RInt_unique. apply (is_RInt_ext (fun t => t ^ k)); [intros; simpl; ring | apply power_int].
- rewrite ih, ih. symmetry. apply is_RInt_unique.
  assert (A := is_RInt_scal _ _ _ p _ (RInt_correct _ _ _ (falls_int (S k) ps))).
  assert (B := is_RInt_scal _ _ _ (1 - p) _ (RInt_correct _ _ _ (falls_int k ps))).
  assert (C := is_RInt_plus _ _ _ _ _ _ A B).
  apply (is_RInt_ext _ _ _ _ _) with (2 := C). intros t _. unfold plus, scal; simpl; unfold mult; simpl. ring.
Qed.
Lemma falls_prod ps u : falls ps (1 - u) = prod ps u.
Proof. induction ps as [|p ps ih]; simpl; [reflexivity|]. rewrite ih. ring. Qed.
(* with one head so far, and u = 1 - t: the integral of the theorem above, w = top *)
Theorem coins_and_permutation ps : drawn 0 ps = RInt (prod ps) 0 1.
Proof.
rewrite all_coins_at_once.
assert (I := RInt_correct _ _ _ (prod_int ps ((-1) * 1 + 1) ((-1) * 0 + 1))).
assert (J := is_RInt_comp_lin _ _ _ _ _ _ I).
assert (K := is_RInt_opp _ _ _ _ J). assert (L := is_RInt_swap _ _ _ _ K).
transitivity (RInt (prod ps) ((-1) * 1 + 1) ((-1) * 0 + 1)); [|f_equal; ring].
apply is_RInt_unique. rewrite opp_opp in L. apply (is_RInt_ext _ _ _ _ _) with (2 := L).
intros t _.
assert (e : falls ps t = prod ps (-1 * t + 1)) by (rewrite <- falls_prod; f_equal; ring).
simpl pow. rewrite e. unfold opp, scal; simpl; unfold mult; simpl. ring.
Qed.
