(* Row 7: one number is enough (privacy/filters/residue.py). D is the difference of the curves times e^(-e/2): D'' = D/4 + h. If h is
   >= 0 up to u1, <= 0 up to u2 and >= 0 beyond, D(0) >= 0 and e^(u/2) D vanishes far out, then D >= 0 everywhere on u >= 0. *)
Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
Local Open Scope R_scope.
Lemma grows (f df : R -> R) a b : a <= b -> (forall x, a <= x <= b -> is_derive f x (df x)) ->
  (forall x, a <= x <= b -> 0 <= df x) -> f a <= f b.
Proof.
intros ab d s. destruct (MVT_gen f a b df) as [c [hc e]].
- intros x hx. apply d. rewrite Rmin_left, Rmax_right in hx by exact ab. lra.
- intros x hx. rewrite Rmin_left, Rmax_right in hx by exact ab. apply continuity_pt_filterlim.
  apply (ex_derive_continuous f x). exists (df x). apply d. exact hx.
- rewrite Rmin_left, Rmax_right in hc by exact ab. assert (p := s c hc). nra.
Qed.
Lemma falls (f df : R -> R) a b : a <= b -> (forall x, a <= x <= b -> is_derive f x (df x)) ->
  (forall x, a <= x <= b -> df x <= 0) -> f b <= f a.
Proof.
intros ab d s. assert (h := grows (fun x => - f x) (fun x => - df x) a b ab). simpl in h.
apply Ropp_le_cancel. apply h.
- intros x hx. apply (is_derive_opp f x (df x)). apply d. exact hx.
- intros x hx. assert (q := s x hx). lra.
Qed.
Section Enough.
Variables (D D1 h : R -> R) (u1 u2 : R).
Hypothesis order : 0 <= u1 <= u2.
Hypothesis d1 : forall u, is_derive D u (D1 u).
Hypothesis d2 : forall u, is_derive D1 u (D u / 4 + h u).
Hypothesis even : D1 0 = 0.
Hypothesis inner : forall u, 0 <= u <= u1 -> 0 <= h u.
Hypothesis middle : forall u, u1 <= u <= u2 -> h u <= 0.
Hypothesis outer : forall u, u2 <= u -> 0 <= h u.
Hypothesis vanishes : forall eta, 0 < eta -> exists U, forall u, U <= u -> Rabs (exp (u / 2) * D u) <= eta.
Definition F u := exp (- u / 2) * (D1 u + D u / 2).
Definition E u := exp (u / 2) * D u.
Lemma dF u : is_derive F u (exp (- u / 2) * h u).
Proof.
assert (a := d1 u). assert (b := d2 u). unfold F.
evar_last. apply (is_derive_mult (fun u => exp (- u / 2)) (fun u => D1 u + D u / 2) u (- / 2 * exp (- u / 2)) (D u / 4 + h u + D1 u / 2)).
- auto_derive; [exact I|]. change (@mult R_AbsRing) with Rmult. simpl. unfold Rdiv. ring.
- apply (is_derive_plus D1 (fun u => D u / 2) u); [exact b|].
  apply (is_derive_ext (fun u => / 2 * D u)); [intro t; simpl; unfold Rdiv; apply Rmult_comm|].
  replace (D1 u / 2) with (/ 2 * D1 u) by (unfold Rdiv; ring). apply (is_derive_scal D u (/ 2) (D1 u)). exact a.
- intros; apply Rmult_comm.
- unfold plus, mult; simpl. field.
Qed.
Lemma dE u : is_derive E u (exp u * F u).
Proof.
assert (a := d1 u). unfold E.
evar_last. apply (is_derive_mult (fun u => exp (u / 2)) D u (/ 2 * exp (u / 2)) (D1 u)).
- auto_derive; [exact I|]. simpl. unfold Rdiv. ring.
- exact a.
- intros; apply Rmult_comm.
- unfold plus, mult, F; simpl. rewrite <- Rmult_assoc, <- exp_plus. replace (u + - u / 2) with (u / 2) by field. field.
Qed.
Lemma E_D u : 0 <= E u -> 0 <= D u.
Proof. unfold E. assert (p := exp_pos (u / 2)). intro q. apply Rnot_lt_le. intro c. nra. Qed.
Theorem one_number_is_enough : 0 <= D 0 -> forall u, 0 <= u -> 0 <= D u.
Proof.
intros D0.
assert (pos : forall x y, 0 <= y -> 0 <= exp x * y) by (intros; apply Rmult_le_pos; [left; apply exp_pos | assumption]).
assert (neg : forall x y, y <= 0 -> exp x * y <= 0) by (intros x y q; assert (p := exp_pos x); nra).
assert (F0 : 0 <= F 0) by (unfold F; apply pos; rewrite even; lra).
assert (E0 : 0 <= E 0) by (unfold E; apply pos; lra).
assert (in1 : forall u, 0 <= u <= u1 -> 0 <= E u).
{ intros u hu. apply Rle_trans with (1 := E0). apply (grows E (fun u => exp u * F u)); [lra | intros; apply dE |].
  intros x hx. apply pos. apply Rle_trans with (1 := F0).
  apply (grows F (fun u => exp (- u / 2) * h u)); [lra | intros; apply dF |]. intros y hy. apply pos. apply inner. lra. }
assert (out1 : forall u, u2 <= u -> F u <= 0).
{ intros v hv. apply Rnot_lt_le. intro c.
  assert (Fv : forall w, v <= w -> F v <= F w).
  { intros w hw. apply (grows F (fun u => exp (- u / 2) * h u)); [lra | intros; apply dF |]. intros y hy. apply pos. apply outer. lra. }
  set (g := exp v * F v). assert (g0 : 0 < g) by (unfold g; apply Rmult_lt_0_compat; [apply exp_pos | exact c]).
  assert (lin : forall w, v <= w -> E v + g * (w - v) <= E w).
  { intros w hw. assert (m := grows (fun x => E x - g * (x - v)) (fun x => exp x * F x - g) v w hw). simpl in m.
    assert (E v - g * (v - v) <= E w - g * (w - v)).
    { apply m.
      - intros x hx. apply (is_derive_minus E (fun x => g * (x - v)) x). apply dE. auto_derive; [exact I | ring].
      - intros x hx. assert (p := Fv x ltac:(lra)). assert (exp v <= exp x).
        { destruct (Req_dec v x) as [->|]; [lra | left; apply exp_increasing; lra]. }
        unfold g. assert (q := exp_pos v). nra. }
    lra. }
  destruct (vanishes 1 ltac:(lra)) as [U hU].
  set (w := Rmax (Rmax U v) (v + (2 - E v) / g)).
  assert (w1 : U <= w) by (unfold w; apply Rle_trans with (2 := Rmax_l _ _); apply Rmax_l).
  assert (w2 : v <= w) by (unfold w; apply Rle_trans with (2 := Rmax_l _ _); apply Rmax_r).
  assert (w3 : v + (2 - E v) / g <= w) by (unfold w; apply Rmax_r).
  assert (L := lin w w2). assert (S := hU w w1). fold (E w) in S. apply Rabs_le_between in S.
  assert (g * ((2 - E v) / g) = 2 - E v) by (field; lra). nra. }
assert (out2 : forall u, u2 <= u -> 0 <= E u).
{ intros u hu. apply Rnot_lt_le. intro c. destruct (vanishes (- E u / 2) ltac:(lra)) as [U hU].
  set (w := Rmax U u). assert (E w <= E u).
  { apply (falls E (fun u => exp u * F u)); [apply Rmax_r | intros; apply dE |]. intros x hx. apply neg. apply out1. lra. }
  assert (S := hU w (Rmax_l _ _)). fold (E w) in S. apply Rabs_le_between in S. lra. }
intros u hu. apply E_D. destruct (Rle_or_lt u u1) as [a|a]; [apply in1; lra|].
destruct (Rle_or_lt u2 u) as [b|b]; [apply out2; exact b|].
assert (dec : forall x y, u1 <= x -> x <= y -> y <= u2 -> F y <= F x).
{ intros x y hx xy hy. apply (falls F (fun u => exp (- u / 2) * h u)); [lra | intros; apply dF |]. intros z hz. apply neg. apply middle. lra. }
destruct (Rle_or_lt 0 (F u)) as [s|s].
- apply Rle_trans with (E u1); [apply in1; lra|]. apply (grows E (fun u => exp u * F u)); [lra | intros; apply dE |].
  intros x hx. apply pos. apply Rle_trans with (1 := s). apply dec; lra.
- apply Rle_trans with (E u2); [apply out2; lra|]. apply (falls E (fun u => exp u * F u)); [lra | intros; apply dE |].
  intros x hx. apply neg. assert (q := dec u x ltac:(lra) ltac:(lra) ltac:(lra)). lra.
Qed.
End Enough.
