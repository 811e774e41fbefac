(* Thresholds of the default noise table of Laplace noise of scale 1 (noise/table.py `build`), certified by Interval: the cumulated
   weights of the cells 0, -1, 1, -2, 2, … in units of 2^-64, rounded down. After 2m + 1 cells they are 1 - 2 a^(m+1)/(1 + a), after
   2m + 2 cells 1 - a^(m+1), with a = e^-1. *)
Require Import Reals ZArith List Bool Lra.
From Interval Require Import Tactic.
Import ListNotations.
Local Open Scope R_scope.
Definition LAPLACE_TABLE : list Z := ([
  8524556932045589908; 11660566172440666341; 14796575412835742774; 15950248739700762816; 17103922066565782858;
  17528334765347285147; 17952747464128787436; 18108880170582590178; 18265012877036392919; 18322450889835202718;
  18379888902634012516; 18401019166684436817; 18422149430734861117; 18429922820465536226; 18437696210196211335;
  18440555880466339923; 18443415550736468510; 18444467564637378003; 18445519578538287495; 18445906592824258668;
  18446293607110229841; 18446435981709478281; 18446578356308726721; 18446630732996735245; 18446683109684743769;
  18446702377991458756; 18446721646298173743; 18446728734712080372; 18446735823125987002; 18446738430807733764;
  18446741038489480527; 18446741997801984279; 18446742957114488031; 18446743310025835820; 18446743662937183609;
  18446743792766013017; 18446743922594842425; 18446743970356199635; 18446744018117556846; 18446744035687978246;
  18446744053258399646; 18446744059722196452; 18446744066185993258; 18446744068563891214; 18446744070941789171;
  18446744071816568943; 18446744072691348714; 18446744073013162208; 18446744073334975701; 18446744073453364269;
  18446744073571752837; 18446744073615305558; 18446744073658858278; 18446744073674880428; 18446744073690902579;
  18446744073696796799; 18446744073702691018; 18446744073704859381; 18446744073707027743; 18446744073707825439;
  18446744073708623135; 18446744073708916591; 18446744073709210046; 18446744073709318003; 18446744073709425959;
  18446744073709465674; 18446744073709505389; 18446744073709519999; 18446744073709534610; 18446744073709539985;
  18446744073709545359; 18446744073709547337; 18446744073709549314; 18446744073709550041; 18446744073709550769;
  18446744073709551036; 18446744073709551304; 18446744073709551402; 18446744073709551501; 18446744073709551537;
  18446744073709551573; 18446744073709551587; 18446744073709551600; 18446744073709551605; 18446744073709551610;
  18446744073709551612; 18446744073709551613; 18446744073709551614])%Z.
Definition inside (F : Z) (t : R) := IZR F <= IZR (2 ^ 64)%Z * t < IZR F + 1.
Fixpoint holds (m : Z) (l : list Z) : Prop := match l with
  | F :: F' :: rest => inside F (1 - 2 * exp (- IZR (m + 1)) / (1 + exp (-1))) /\ inside F' (1 - exp (- IZR (m + 1))) /\ holds (m + 1)%Z rest
  | _ => True end.
(* The weights of two cells more are those before times a = e^-1. So whole numbers enclose all of them, in units of 2^-160: Interval
   gives the two of a, each step multiplies them, one rounded down and one up, and the comparisons are between whole numbers. *)
Definition U : Z := (2 ^ 160)%Z.
Definition A : Z := 537656405612440531293709506882804952831773640106%Z.
Lemma a_inside : IZR A <= IZR U * exp (-1) <= IZR (A + 1).
Proof. unfold A, U; cbv [Z.add Z.pow Z.pow_pos Pos.iter Z.mul Pos.mul]; split; interval with (i_prec 200). Qed.
Fixpoint enclosed (low high : Z) (l : list Z) : bool := match l with
  | F :: F' :: rest =>
      let low := (low * A / U)%Z in let high := (high * (A + 1) / U + 1)%Z in let W := (2 ^ 64)%Z in
      ((0 <=? W - F - 1) && (2 * W * high <=? (W - F) * (U + A)) && ((W - F - 1) * (U + A + 1) <? 2 * W * low) &&
       (W * high <=? (W - F') * U) && ((W - F' - 1) * U <? W * low) && enclosed low high rest)%Z
  | _ => true end.
Lemma U_positive : 0 < IZR U. Proof. apply IZR_lt; reflexivity. Qed.
Lemma floor_below x : IZR (x / U) * IZR U <= IZR x.
Proof. rewrite <- mult_IZR, Z.mul_comm; apply IZR_le, Z.mul_div_le; reflexivity. Qed.
Lemma floor_above x : IZR x <= IZR (x / U + 1) * IZR U.
Proof. rewrite <- mult_IZR, Z.mul_comm; apply IZR_le, Z.lt_le_incl, Z.mul_succ_div_gt; reflexivity. Qed.
(* both comparisons, with u = 2^160, w = 2^64, e = a^(m+1) and whole numbers about u·a and u·e *)
Lemma odd_cells u w f a b e low high : 0 < u -> 0 < w -> 0 < b -> 0 <= w - f - 1 ->
  a <= u * b <= a + 1 -> low <= u * e <= high ->
  2 * w * high <= (w - f) * (u + a) -> (w - f - 1) * (u + a + 1) < 2 * w * low -> f <= w * (1 - 2 * e / (1 + b)) < f + 1.
Proof.
intros u0 w0 b0 f0 [a1 a2] [e1 e2] upper lower. replace (w * (1 - 2 * e / (1 + b))) with (w - 2 * w * e / (1 + b)) by (field; lra).
assert (q : 2 * w * e / (1 + b) * (1 + b) = 2 * w * e) by (field; lra). set (s := 2 * w * e / (1 + b)) in *.
assert (b1 : 0 < u * (1 + b)) by (apply Rmult_lt_0_compat; lra).
assert (t : s * (u * (1 + b)) = 2 * w * (u * e)) by (rewrite (Rmult_comm u), <- Rmult_assoc, q; ring).
assert (2 * w * (u * e) <= 2 * w * high) by (apply Rmult_le_compat_l; lra).
assert (2 * w * low <= 2 * w * (u * e)) by (apply Rmult_le_compat_l; lra).
assert ((w - f) * (u + a) <= (w - f) * (u * (1 + b))) by (apply Rmult_le_compat_l; lra).
assert ((w - f - 1) * (u * (1 + b)) <= (w - f - 1) * (u + a + 1)) by (apply Rmult_le_compat_l; lra).
assert (s <= w - f) by (apply (Rmult_le_reg_r (u * (1 + b))); lra).
assert (w - f - 1 < s) by (apply (Rmult_lt_reg_r (u * (1 + b))); lra).
lra.
Qed.
Lemma even_cells u w f e low high : 0 < u -> 0 < w -> low <= u * e <= high ->
  w * high <= (w - f) * u -> (w - f - 1) * u < w * low -> f <= w * (1 - e) < f + 1.
Proof.
intros u0 w0 [e1 e2] upper lower.
assert (w * (u * e) <= w * high) by (apply Rmult_le_compat_l; lra).
assert (w * low <= w * (u * e)) by (apply Rmult_le_compat_l; lra).
assert (w * e <= w - f) by (apply (Rmult_le_reg_r u); lra).
assert (w - f - 1 < w * e) by (apply (Rmult_lt_reg_r u); lra).
lra.
Qed.
Lemma next_power m low high : IZR low <= IZR U * exp (- IZR m) <= IZR high ->
  IZR (low * A / U) <= IZR U * exp (- IZR (m + 1)) <= IZR (high * (A + 1) / U + 1).
Proof.
intros [l h]. assert (u0 := U_positive). destruct a_inside as [a1 a2].
assert (A0 : 0 <= IZR A) by (apply IZR_le; discriminate).
replace (exp (- IZR (m + 1))) with (exp (- IZR m) * exp (-1)) by (rewrite <- exp_plus, plus_IZR; f_equal; ring).
assert (x := exp_pos (- IZR m)). assert (y := exp_pos (-1)). set (e := exp (- IZR m)) in *. set (b := exp (-1)) in *.
assert (ue : 0 <= IZR U * e) by (apply Rlt_le, Rmult_lt_0_compat; assumption).
assert (ub : 0 <= IZR U * b) by (apply Rlt_le, Rmult_lt_0_compat; assumption).
split; apply (Rmult_le_reg_r (IZR U)); try assumption.
- apply Rle_trans with (1 := floor_below (low * A)). rewrite mult_IZR.
  apply Rle_trans with (IZR U * e * IZR A); [apply Rmult_le_compat_r; assumption |].
  replace (IZR U * (e * b) * IZR U) with (IZR U * e * (IZR U * b)) by ring. apply Rmult_le_compat_l; assumption.
- apply Rle_trans with (2 := floor_above (high * (A + 1))). rewrite mult_IZR.
  replace (IZR U * (e * b) * IZR U) with (IZR U * e * (IZR U * b)) by ring. apply Rmult_le_compat; assumption.
Qed.
Lemma enclosed_holds : forall l m low high, IZR low <= IZR U * exp (- IZR m) <= IZR high -> enclosed low high l = true -> holds m l.
Proof.
fix again 1. intros [|F [|F' rest]] m low high around found; try exact I.
cbn [enclosed] in found. rewrite !Bool.andb_true_iff, !Z.leb_le, !Z.ltb_lt in found.
destruct found as [[[[[f0 odd_high] odd_low] even_high] even_low] others].
assert (next := next_power m low high around).
set (low' := (low * A / U)%Z) in *. set (high' := (high * (A + 1) / U + 1)%Z) in *.
apply IZR_le in f0, odd_high, even_high. apply IZR_lt in odd_low, even_low.
assert (a_around := a_inside). assert (u0 := U_positive). assert (w0 : 0 < IZR (2 ^ 64)) by (apply IZR_lt; reflexivity).
cbn [holds]; unfold inside. set (m' := (m + 1)%Z) in *. rewrite ?mult_IZR, ?minus_IZR, ?plus_IZR in *. split; [|split].
- apply (odd_cells (IZR U) (IZR (2 ^ 64)) (IZR F) (IZR A) (exp (-1)) (exp (- IZR m')) (IZR low') (IZR high')); try assumption. apply exp_pos.
- apply (even_cells (IZR U) (IZR (2 ^ 64)) (IZR F') (exp (- IZR m')) (IZR low') (IZR high')); assumption.
- exact (again rest m' low' high' next others).
Qed.
Theorem laplace_table : holds 0 LAPLACE_TABLE.
Proof.
apply (enclosed_holds LAPLACE_TABLE 0 U U); [|vm_compute; reflexivity].
rewrite Ropp_0, exp_0; lra.
Qed.
