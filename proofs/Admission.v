(* The rule by which a ledger over (eps, delta) admits: the tail pays, or what adds up fits; leaks from one purse.
   privacy/filters/{filter,sums,rule,whole}.py, docs/decisions/0016. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Section Admission.
Variables (R : realFieldType) (Out : finType) (St : Type) (A : R).
Hypothesis A0 : 0 <= A.

(* what D has beyond A = e^eps times what D' has *)
Definition over (p q : R) : R := Num.max 0 (p - A * q).

(* one answer, under D (p) and D' (q): with weight `leak` anything, else a good law *)
Record step := Step {
  leak : R; gp : Out -> R; gq : Out -> R; bp : Out -> R; bq : Out -> R;
  leak0 : 0 <= leak; leak1 : leak <= 1;
  gp0 : forall o, 0 <= gp o; gq0 : forall o, 0 <= gq o; bp0 : forall o, 0 <= bp o; bq0 : forall o, 0 <= bq o;
  gp1 : \sum_o gp o = 1; bp1 : \sum_o bp o = 1 }.
Definition lawp e o := (1 - leak e) * gp e o + leak e * bp e o.
Definition lawq e o := (1 - leak e) * gq e o + leak e * bq e o.

(* an analyst who adapts to every answer and stops when she likes *)
Inductive play := Stop | Ask of step & (Out -> play).
Fixpoint realised (p q : R) (t : play) : R :=
  match t with Stop => over p q | Ask e k => \sum_o realised (p * lawp e o) (q * lawq e o) (k o) end.

(* the tail: any potential that is above the excess, shrinks with its arguments and is a supermartingale where it pays *)
Variables (V : St -> R -> R -> R) (pays : St -> step -> St -> Prop).
(* pairs of masses that can occur while the tail pays: a Renyi tail needs q > 0 where p > 0 *)
Variable good : R -> R -> Prop.
Hypothesis good_scale : forall c p q, 0 <= c <= 1 -> good p q -> good (c * p) (c * q).
Hypothesis good_step : forall s e s' p q o, pays s e s' -> good p q -> good (p * gp e o) (q * gq e o).
Hypothesis V_over : forall s p q, 0 <= p -> 0 <= q -> good p q -> over p q <= V s p q.
Hypothesis V_scale : forall s c p q, 0 <= c <= 1 -> 0 <= p -> 0 <= q -> good p q -> V s (c * p) (c * q) <= V s p q.
Hypothesis V_step : forall s e s' p q, pays s e s' -> 0 <= p -> 0 <= q -> good p q ->
  \sum_o V s' (p * gp e o) (q * gq e o) <= V s p q.
(* the pure factor e^eps_i of a step's good part, if it has one *)
Variable pure : step -> option R.
Hypothesis pure_ok : forall e b, pure e = Some b -> 0 <= b /\ forall o, gp e o <= b * gq e o.

Definition times (a b : option R) := if (a, b) is (Some x, Some y) then Some (x * y) else None.

Fixpoint admitted (tail : option St) (sum : option R) (d : R) (t : play) : Prop :=
  match t with
  | Stop => True
  | Ask e k => leak e <= d /\
      ((exists s s', [/\ tail = Some s, pays s e s' & forall o, admitted (Some s') (times sum (pure e)) (d - leak e) (k o)])
    \/ (exists a b, [/\ sum = Some a, pure e = Some b, a * b <= A & forall o, admitted None (Some (a * b)) (d - leak e) (k o)]))
  end.

Definition bound (tail : option St) p q := if tail is Some s then V s p q else 0.

Lemma over_ge0 p q : 0 <= over p q. Proof. by rewrite /over le_maxr lexx. Qed.
Lemma over_add p q p' q' : 0 <= p' -> 0 <= q' -> over (p + p') (q + q') <= over p q + p'.
Proof.
move=> hp hq; rewrite /over le_maxl addr_ge0 //=; last by rewrite le_maxr lexx.
have h : 0 <= A * q' by rewrite mulr_ge0.
have : p - A * q <= Num.max 0 (p - A * q) by rewrite le_maxr lexx orbT.
set m := Num.max _ _ => hm.
have -> : p + p' - A * (q + q') = (p - A * q) + p' - A * q' by ring.
rewrite ler_subl_addr; apply: le_trans (ler_add hm (lexx p')) _; by rewrite ler_addl.
Qed.
Lemma lawp0 e o : 0 <= lawp e o.
Proof. by rewrite addr_ge0 ?mulr_ge0 ?gp0 ?bp0 ?leak0 ?subr_ge0 ?leak1. Qed.
Lemma lawq0 e o : 0 <= lawq e o.
Proof. by rewrite addr_ge0 ?mulr_ge0 ?gq0 ?bq0 ?leak0 ?subr_ge0 ?leak1. Qed.
Lemma lawp1 e : \sum_o lawp e o = 1.
Proof. by rewrite big_split /= -!mulr_sumr gp1 bp1 !mulr1 subrK. Qed.

Lemma main t : forall tail sum d p q p' q', 0 <= d -> 0 <= p -> 0 <= q -> 0 <= p' -> 0 <= q' ->
  (forall a, sum = Some a -> 0 <= a /\ p <= a * q) -> (tail = None -> exists2 a, sum = Some a & a <= A) ->
  (forall s, tail = Some s -> good p q) ->
  admitted tail sum d t -> realised (p + p') (q + q') t <= bound tail p q + p' + p * d.
Proof.
elim: t => [|e k ih] tail sum d p q p' q' d0 p0 q0 p'0 q'0 hs ht hg /=.
  move=> _; apply: le_trans (over_add _ _ p'0 q'0) _.
  have pd : 0 <= p * d by rewrite mulr_ge0.
  suff h : over p q <= bound tail p q by apply: le_trans (ler_add h (lexx p')) _; rewrite ler_addl.
  case: tail ht hg => [s _ hg|/(_ erefl)[a sa aA] _]; first exact: V_over (hg _ erefl).
  rewrite /= /over le_maxl lexx /= subr_le0.
  have [_ pa] := hs _ sa; apply: le_trans pa _; exact: ler_wpmul2r.
case=> ld adm; have l0 := leak0 e; have l1 := leak1 e.
pose P1 o := p * (1 - leak e) * gp e o; pose Q1 o := q * (1 - leak e) * gq e o.
pose P2 o := p * leak e * bp e o + p' * lawp e o; pose Q2 o := q * leak e * bq e o + q' * lawq e o.
have P10 o : 0 <= P1 o by rewrite !mulr_ge0 ?gp0 ?subr_ge0.
have Q10 o : 0 <= Q1 o by rewrite !mulr_ge0 ?gq0 ?subr_ge0.
have P20 o : 0 <= P2 o by rewrite addr_ge0 ?mulr_ge0 ?bp0 ?lawp0.
have Q20 o : 0 <= Q2 o by rewrite addr_ge0 ?mulr_ge0 ?bq0 ?lawq0.
have eP o : (p + p') * lawp e o = P1 o + P2 o by rewrite /P1 /P2 /lawp; ring.
have eQ o : (q + q') * lawq e o = Q1 o + Q2 o by rewrite /Q1 /Q2 /lawq; ring.
have dl : 0 <= d - leak e by rewrite subr_ge0.
have c01 : 0 <= 1 - leak e <= 1 by rewrite subr_ge0 l1 ler_subl_addr ler_addl l0.
have [tail' [hV hR]] : exists tail', \sum_o bound tail' (P1 o) (Q1 o) <= bound tail p q /\
   forall o, realised (P1 o + P2 o) (Q1 o + Q2 o) (k o) <= bound tail' (P1 o) (Q1 o) + P2 o + P1 o * (d - leak e).
  case: adm => [[s [s' [ts hp ad]]]|[a [b [sa pb abA ad]]]].
    rewrite ts; have gpq := hg _ ts; have gc := good_scale c01 gpq.
    exists (Some s'); split=> [|o].
      have -> : \sum_o bound (Some s') (P1 o) (Q1 o) =
         \sum_o V s' (((1 - leak e) * p) * gp e o) (((1 - leak e) * q) * gq e o).
        by apply: eq_bigr => o _; rewrite /= /P1 /Q1 ![_ * (1 - leak e)]mulrC.
      apply: le_trans (V_step hp _ _ gc) _; rewrite ?mulr_ge0 ?subr_ge0 //.
      exact: V_scale.
    apply: ih (ad o) => //; last first.
      by move=> s1 _; rewrite /P1 /Q1 ![_ * (1 - leak e)]mulrC; exact: good_step hp gc.
    move=> c; case es: sum hs => [x|] //; case eb: (pure e) => [y|] //= hs [<-].
    have [x0 px] := hs _ erefl; have [y0 py] := pure_ok eb; split; first by rewrite mulr_ge0.
    rewrite /P1 /Q1 mulrAC [q * _ * _]mulrAC !mulrA; apply: ler_wpmul2r; first by case/andP: c01.
    have -> : x * y * q * gq e o = (x * q) * (y * gq e o) by ring.
    by apply: ler_pmul => //; exact: gp0.
  exists None; split=> [|o].
    rewrite /= big1 //; case: (tail) hg => //= s hg.
    exact: le_trans (over_ge0 p q) (V_over s p0 q0 (hg _ erefl)).
  apply: ih (ad o) => // [c [<-]|_]; last by exists (a * b).
  have [a0 pa] := hs _ sa; have [b0 py] := pure_ok pb; split; first by rewrite mulr_ge0.
  rewrite /P1 /Q1 mulrAC [q * _ * _]mulrAC !mulrA; apply: ler_wpmul2r; first by case/andP: c01.
  have -> : a * b * q * gq e o = (a * q) * (b * gq e o) by ring.
  by apply: ler_pmul => //; exact: gp0.
apply: (@le_trans _ _ (\sum_o (bound tail' (P1 o) (Q1 o) + P2 o + P1 o * (d - leak e)))).
  by apply: ler_sum => o _; rewrite eP eQ; exact: hR.
rewrite !big_split /= -!mulr_sumr -mulr_suml -mulr_sumr gp1 bp1 lawp1 !mulr1.
have h1 : p * (1 - leak e) * (d - leak e) <= p * (d - leak e).
  apply: ler_wpmul2r => //; rewrite ler_pimulr //; by case/andP: c01.
have -> : p * d = p * leak e + p * (d - leak e) by ring.
have -> : bound tail p q + p' + (p * leak e + p * (d - leak e)) = bound tail p q + (p * leak e + p') + p * (d - leak e) by ring.
by apply: ler_add h1; rewrite ler_add2r.
Qed.

(* Row 1, the ledger's theorem: delta'' for leaks, and what the tail's potential starts at. *)
Theorem ledger s0 d t : good 1 1 -> 0 <= d -> admitted (Some s0) (Some 1) d t -> realised 1 1 t <= V s0 1 1 + d.
Proof.
move=> g1 d0 ad; have := @main t (Some s0) (Some 1) d 1 1 0 0 d0 ler01 ler01 (lexx 0) (lexx 0) _ _ _ ad.
rewrite !addr0 mul1r; apply => // a [<-]; by rewrite mul1r.
Qed.
(* Row 2, without a tail: the pure (d = 0) and the approximate filter. *)
Theorem adds_up d t : 0 <= d -> 1 <= A -> admitted None (Some 1) d t -> realised 1 1 t <= d.
Proof.
move=> d0 A1 ad; have := @main t None (Some 1) d 1 1 0 0 d0 ler01 ler01 (lexx 0) (lexx 0) _ _ _ ad.
rewrite !addr0 mul1r add0r; apply => [a [<-]|_|//]; [by rewrite mul1r | by exists 1].
Qed.

(* Row 6, the whole at once: the first event may take all of (eps, delta) if nothing that costs follows. An event
   that costs nothing (gp = gq, no leak) may still follow, however often. *)
Inductive free : play -> Prop :=
| FreeStop : free Stop
| FreeAsk e k : leak e = 0 -> (forall o, gp e o = gq e o) -> (forall o, free (k o)) -> free (Ask e k).
Lemma over_homog c p q : 0 <= c -> over (p * c) (q * c) = over p q * c.
Proof. by move=> c0; rewrite /over mulrA -mulrBl maxr_pmull ?mul0r. Qed.
Lemma free_costs_nothing t : free t -> forall p q, 0 <= p -> 0 <= q -> realised p q t = over p q.
Proof.
elim=> [|e k l0 ge _ ih] //= p q p0 q0.
have eo o : realised (p * lawp e o) (q * lawq e o) (k o) = over p q * gp e o.
  rewrite /lawp /lawq l0 !mul0r !subr0 !addr0 !mul1r -ge ih ?mulr_ge0 ?gp0 //.
  by rewrite over_homog ?gp0.
by rewrite (eq_bigr _ (fun o _ => eo o)) -mulr_sumr gp1 mulr1.
Qed.
Theorem whole_at_once e k d : (forall o, free (k o)) ->
  (forall E : {set Out}, \sum_(o in E) lawp e o <= A * (\sum_(o in E) lawq e o) + d) ->
  realised 1 1 (Ask e k) <= d.
Proof.
move=> fr dp /=; pose E := [set o | 0 <= lawp e o - A * lawq e o].
rewrite (eq_bigr (fun o => over (lawp e o) (lawq e o))); last first.
  by move=> o _; rewrite !mul1r free_costs_nothing ?lawp0 ?lawq0.
rewrite (bigID (fun o => o \in E)) /= [X in _ + X]big1 ?addr0; last first.
  by move=> o; rewrite inE -ltNge => h; rewrite /over; apply/max_idPl/ltW.
rewrite (eq_bigr (fun o => lawp e o - A * lawq e o)); last first.
  by move=> o; rewrite inE => h; rewrite /over; apply/max_idPr.
rewrite sumrB -mulr_sumr ler_subl_addr [d + _]addrC; exact: dp E.
Qed.
End Admission.

(* Row 4: the Renyi potential. phi p q stands for p^a q^(1-a): multiplicative, homogeneous, above the excess up to the
   constant k = K_a A^(1-a). The state is e^((a-1)(capacity - used)), at least 1 while used <= capacity. *)
Section Renyi.
Variables (R : realFieldType) (Out : finType) (A : R) (phi : R -> R -> R) (k : R).
Hypothesis A0 : 0 <= A.
Hypothesis k0 : 0 <= k.
Definition dominated (p q : R) := q = 0 -> p = 0.
Hypothesis phi_ge0 : forall p q, 0 <= p -> 0 <= q -> dominated p q -> 0 <= phi p q.
Hypothesis phi_mul : forall p q p' q', 0 <= p -> 0 <= q -> dominated p q -> 0 <= p' -> 0 <= q' -> dominated p' q' ->
  phi (p * p') (q * q') = phi p q * phi p' q'.
Hypothesis phi_homog : forall c p q, 0 <= c -> 0 <= p -> 0 <= q -> dominated p q -> phi (c * p) (c * q) = c * phi p q.
Hypothesis phi_over : forall p q, 0 <= p -> 0 <= q -> dominated p q -> over A p q <= k * phi p q.
Definition state := {s : R | 1 <= s}.
Definition moment (e : step R Out) := \sum_o phi (gp e o) (gq e o).
Definition renyi_pays (s : state) (e : step R Out) (s' : state) :=
  (forall o, dominated (gp e o) (gq e o)) /\ sval s' * moment e <= sval s.
Definition potential (s : state) p q := sval s * k * phi p q.
Lemma dominated_mul p q p' q' : dominated p q -> dominated p' q' -> dominated (p * p') (q * q').
Proof. by move=> h h' /eqP; rewrite mulf_eq0 => /orP[] /eqP; [move=> /h -> | move=> /h' ->]; rewrite ?mul0r ?mulr0. Qed.
Theorem renyi_supermartingale s e s' p q : renyi_pays s e s' -> 0 <= p -> 0 <= q -> dominated p q ->
  \sum_o potential s' (p * gp e o) (q * gq e o) <= potential s p q.
Proof.
case=> dom pay p0 q0 d; rewrite /potential.
rewrite (eq_bigr (fun o => (sval s' * k * phi p q) * phi (gp e o) (gq e o))); last first.
  by move=> o _; rewrite phi_mul ?gp0 ?gq0 // mulrA.
rewrite -mulr_sumr -/(moment e).
have -> : sval s' * k * phi p q * moment e = (sval s' * moment e) * (k * phi p q) by ring.
by rewrite -[sval s * k * _]mulrA; apply: ler_wpmul2r => //; rewrite mulr_ge0 ?phi_ge0.
Qed.
Theorem renyi_admission (pure : step R Out -> option R) :
  (forall e b, pure e = Some b -> 0 <= b /\ forall o, gp e o <= b * gq e o) ->
  forall s0 d t, 0 <= d -> admitted A renyi_pays pure (Some s0) (Some 1) d t ->
  realised A 1 1 t <= sval s0 * k * phi 1 1 + d.
Proof.
move=> pure_ok s0 d t d0 ad.
apply: (@ledger R Out state A A0 potential renyi_pays dominated) ad => //.
- move=> c p q _ dom /eqP; rewrite mulf_eq0 => /orP[] /eqP; [by move=> -> ; rewrite mul0r | by move=> /dom ->; rewrite mulr0].
- by move=> s e s' p q o [dom _] d1; exact: dominated_mul.
- move=> s p q p0 q0 dom; apply: le_trans (phi_over p0 q0 dom) _.
  rewrite /potential -mulrA ler_pemull ?(svalP s) // mulr_ge0 ?phi_ge0 //.
- move=> s c p q /andP[c0 c1] p0 q0 dom; rewrite /potential phi_homog //.
  have b0 : 0 <= sval s * k * phi p q by rewrite !mulr_ge0 ?phi_ge0 // (le_trans ler01 (svalP s)).
  by rewrite mulrCA ler_pimull.
- exact: renyi_supermartingale.
Qed.
End Renyi.

(* Row 5: the tail of a whole curve. `mean` integrates over what the remaining pair (up s, uq s) would still show, on a class
   `ok` of integrable functions. G(sqrt s) is one such pair; the charge is any s -> s' with "step, then s'" under "s". *)
Section Curve.
Variables (R : realFieldType) (Out : finType) (A : R) (X St : Type) (ok : (X -> R) -> Prop) (mean : (X -> R) -> R).
Hypothesis A0 : 0 <= A.
Hypothesis ok_ext : forall f g, ok f -> (forall x, f x = g x) -> ok g.
Hypothesis ok_scale : forall c f, ok f -> ok (fun x => c * f x).
Hypothesis ok_add : forall f g, ok f -> ok g -> ok (fun x => f x + g x).
Hypothesis ok_max : forall f, ok f -> ok (fun x => Num.max 0 (f x)).
Hypothesis mean_scale : forall c f, ok f -> mean (fun x => c * f x) = c * mean f.
Hypothesis mean_add : forall f g, ok f -> ok g -> mean (fun x => f x + g x) = mean f + mean g.
Hypothesis mean_le : forall f g, ok f -> ok g -> (forall x, f x <= g x) -> mean f <= mean g.
Variables (up uq : St -> X -> R).
Hypothesis up_ok : forall s, ok (up s).
Hypothesis uq_ok : forall s, ok (uq s).
Hypothesis up1 : forall s, mean (up s) = 1.
Hypothesis uq1 : forall s, mean (uq s) = 1.
Definition diff s p q := fun x => p * up s x + (- (A * q)) * uq s x.
Definition curve s p q := mean (fun x => Num.max 0 (diff s p q x)).
Lemma diff_ok s p q : ok (diff s p q).
Proof. by apply: ok_add; apply: ok_scale. Qed.
Definition curve_pays s (e : step R Out) s' :=
  forall p q, 0 <= p -> 0 <= q -> \sum_o curve s' (p * gp e o) (q * gq e o) <= curve s p q.
Lemma zero_ok s : ok (fun x => 0 * up s x). Proof. exact: ok_scale. Qed.
Lemma curve_over s p q : 0 <= p -> 0 <= q -> over A p q <= curve s p q.
Proof.
move=> p0 q0; rewrite /over le_maxl; apply/andP; split.
  have -> : 0 = mean (fun x => 0 * up s x) by rewrite mean_scale ?mul0r.
  apply: mean_le => [||x]; [exact: zero_ok | exact/ok_max/diff_ok | by rewrite mul0r le_maxr lexx].
have -> : p - A * q = mean (diff s p q).
  by rewrite /diff mean_add ?mean_scale ?up1 ?uq1 ?mulr1 //; apply: ok_scale.
apply: mean_le => [||x]; [exact: diff_ok | exact/ok_max/diff_ok | by rewrite le_maxr lexx orbT].
Qed.
Lemma curve_homog s c p q : 0 <= c -> curve s (c * p) (c * q) = c * curve s p q.
Proof.
move=> c0; rewrite /curve -mean_scale; last exact/ok_max/diff_ok.
have eqf x : Num.max 0 (diff s (c * p) (c * q) x) = c * Num.max 0 (diff s p q x).
  by rewrite maxr_pmulr // mulr0; congr (Num.max _ _); rewrite /diff; ring.
have okf : ok (fun x => Num.max 0 (diff s (c * p) (c * q) x)) by exact/ok_max/diff_ok.
have okg : ok (fun x => c * Num.max 0 (diff s p q x)) by exact/ok_scale/ok_max/diff_ok.
by apply/eqP; rewrite eq_le !mean_le // => x; rewrite eqf.
Qed.
Theorem curve_admission (pure : step R Out -> option R) :
  (forall e b, pure e = Some b -> 0 <= b /\ forall o, gp e o <= b * gq e o) ->
  forall s0 d t, 0 <= d -> admitted A curve_pays pure (Some s0) (Some 1) d t ->
  realised A 1 1 t <= curve s0 1 1 + d.
Proof.
move=> pure_ok s0 d t d0 ad.
apply: (@ledger R Out St A A0 curve curve_pays (fun _ _ => True)) ad => //.
- by move=> s p q p0 q0 _; exact: curve_over.
- move=> s c p q /andP[c0 c1] p0 q0 _; rewrite curve_homog // ler_pimull //.
  exact: le_trans (over_ge0 A p q) (curve_over s p0 q0).
- by move=> s e s' p q pay p0 q0 _; exact: pay.
Qed.

(* gdp: a step under the pair of its own amount m at every threshold, and amounts that add: the pair of m beside the pair
   of s' is the pair of s. For G the second is the convolution of normal laws, N(0, m) * N(0, s') = N(0, m + s'). *)
Definition under (e : step R Out) m := forall p q, 0 <= p -> 0 <= q ->
  \sum_o Num.max 0 (p * gp e o - q * gq e o) <= mean (fun y => Num.max 0 (p * up m y - q * uq m y)).
Definition splits m s' s := forall p q, 0 <= p -> 0 <= q ->
  ok (fun x => mean (fun y => Num.max 0 ((p * up s' x) * up m y - (A * q * uq s' x) * uq m y))) /\
  mean (fun x => mean (fun y => Num.max 0 ((p * up s' x) * up m y - (A * q * uq s' x) * uq m y))) = curve s p q.
Hypothesis up0 : forall s x, 0 <= up s x.
Hypothesis uq0 : forall s x, 0 <= uq s x.
Lemma mean_ext (f g : X -> R) : ok f -> (forall x, f x = g x) -> mean f = mean g.
Proof. by move=> okf fg; have okg := ok_ext okf fg; apply/eqP; rewrite eq_le !mean_le // => x; rewrite fg. Qed.
Lemma mean_sum (s : St) (f : Out -> X -> R) (l : seq Out) : (forall o, ok (f o)) ->
  ok (fun x => \sum_(o <- l) f o x) /\ mean (fun x => \sum_(o <- l) f o x) = \sum_(o <- l) mean (f o).
Proof.
move=> okf; elim: l => [|o l [ihok ih]].
  have e x : 0 * up s x = \sum_(o <- [::]) f o x by rewrite big_nil mul0r.
  split; first exact: ok_ext (zero_ok s) e.
  by rewrite -(mean_ext (zero_ok s) e) mean_scale // mul0r big_nil.
have e x : f o x + \sum_(o <- l) f o x = \sum_(o <- o :: l) f o x by rewrite big_cons.
have oka := ok_add (okf o) ihok; split; first exact: ok_ext oka e.
by rewrite -(mean_ext oka e) mean_add // ih big_cons.
Qed.
Theorem gaussian_pays s e s' m : under e m -> splits m s' s -> curve_pays s e s'.
Proof.
move=> un sp p q p0 q0; have [okm <-] := sp p q p0 q0.
have okf o : ok (fun x => Num.max 0 (diff s' (p * gp e o) (q * gq e o) x)) by exact/ok_max/diff_ok.
have [oks <-] := mean_sum s' (index_enum Out) okf.
apply: mean_le => // x; have := un (p * up s' x) (A * q * uq s' x); rewrite !mulr_ge0 // => /(_ isT isT).
by congr (_ <= _); apply: eq_bigr => o _; congr (Num.max _ _); rewrite /diff; ring.
Qed.
End Curve.

(* Row 41, parallel parts, add-remove: the unit lies in one part, so answers about other parts have one law under D and D'.
   They neither cost nor help: the part's own account admits what is left, for any tail whose potential is homogeneous. *)
Section Parallel.
Variables (R : realFieldType) (Out : finType) (St : Type) (A : R).
Hypothesis A0 : 0 <= A.
Variables (V : St -> R -> R -> R) (pays : St -> step R Out -> St -> Prop) (good : R -> R -> Prop).
Hypothesis good_scale : forall c p q, 0 <= c <= 1 -> good p q -> good (c * p) (c * q).
Hypothesis good_step : forall s e s' p q o, pays s e s' -> good p q -> good (p * gp e o) (q * gq e o).
Hypothesis V_over : forall s p q, 0 <= p -> 0 <= q -> good p q -> over A p q <= V s p q.
Hypothesis V_homog : forall s c p q, 0 <= c <= 1 -> 0 <= p -> 0 <= q -> good p q -> V s (c * p) (c * q) <= c * V s p q.
Hypothesis V_step : forall s e s' p q, pays s e s' -> 0 <= p -> 0 <= q -> good p q ->
  \sum_o V s' (p * gp e o) (q * gq e o) <= V s p q.
Definition elsewhere (e : step R Out) := forall o, gp e o = gq e o.
Definition part_pays s e s' := pays s e s' \/ (elsewhere e /\ s' = s).
Lemma gp_le1 (e : step R Out) o : gp e o <= 1.
Proof. by rewrite -(gp1 e) (bigD1 o) //= ler_addl sumr_ge0 // => x _; exact: gp0. Qed.
Theorem parallel (pure : step R Out -> option R) :
  (forall e b, pure e = Some b -> 0 <= b /\ forall o, gp e o <= b * gq e o) ->
  good 1 1 -> forall s0 d t, 0 <= d -> admitted A part_pays pure (Some s0) (Some 1) d t ->
  realised A 1 1 t <= V s0 1 1 + d.
Proof.
move=> pure_ok g1 s0 d t d0 ad.
apply: (@ledger R Out St A A0 V part_pays good) ad => //.
- move=> s e s' p q o [h|[el _]] g; first exact: good_step h g.
  by rewrite -el ![_ * gp e o]mulrC; apply: good_scale => //; rewrite gp0 gp_le1.
- move=> s c p q /andP[c0 c1] p0 q0 g; apply: le_trans (V_homog _ _ p0 q0 g) _; first by rewrite c0.
  by rewrite ler_pimull // (le_trans (over_ge0 A p q)) // V_over.
- move=> s e s' p q [h|[el ->]] p0 q0 g; first exact: V_step h p0 q0 g.
  apply: (@le_trans _ _ (\sum_o gp e o * V s p q)); last by rewrite -mulr_suml gp1 mul1r.
  apply: ler_sum => o _; rewrite -el ![_ * gp e o]mulrC; apply: V_homog => //; by rewrite gp0 gp_le1.
Qed.
End Parallel.

(* Row 48, unknown keys: a release whose own keys are all hidden outside an event of weight at most delta is a step with
   that leak: the law under D is (1 - delta) good + delta bad with good ratio-bounded by the noise alone. *)
Section Keys.
Variables (R : realFieldType) (Out : finType).
(* p: law with the unit; hidden o: the unit's own keys do not appear in o; p restricted to hidden outcomes, normalised, is the
   good part. q: law without the unit, for which they never appear. *)
Variables (p q : Out -> R) (hidden : pred Out) (d : R).
Hypothesis p0 : forall o, 0 <= p o.
Hypothesis q0 : forall o, 0 <= q o.
Hypothesis p1 : \sum_o p o = 1.
Hypothesis q1 : \sum_o q o = 1.
Hypothesis shown : \sum_(o | ~~ hidden o) p o = d.
Hypothesis d01 : 0 < d < 1.
Definition good_part o := if hidden o then p o / (1 - d) else 0.
Definition bad_part o := if hidden o then 0 else p o / d.
Lemma hidden_sum : \sum_(o | hidden o) p o = 1 - d.
Proof. by rewrite -shown -p1 [\sum_o p o](bigID hidden) /= addrK. Qed.
Theorem unknown_keys : exists e : step R Out,
  [/\ leak e = d, (forall o, lawp e o = p o), (forall o, lawq e o = q o) & (forall o, gp e o = good_part o)].
Proof.
have [d0 d1] := andP d01; have n0 : 0 < 1 - d by rewrite subr_gt0.
have g0 o : 0 <= good_part o by rewrite /good_part; case: ifP => // _; rewrite divr_ge0 // ltW.
have b0 o : 0 <= bad_part o by rewrite /bad_part; case: ifP => // _; rewrite divr_ge0 // ltW.
have g1 : \sum_o good_part o = 1.
  rewrite /good_part -big_mkcond /= -mulr_suml hidden_sum divff //; exact: lt0r_neq0.
have b1 : \sum_o bad_part o = 1.
  transitivity (\sum_o (if ~~ hidden o then p o / d else 0)); first by apply: eq_bigr => o _; rewrite /bad_part; case: (hidden o).
  rewrite -big_mkcond /= -mulr_suml shown divff //; exact: lt0r_neq0.
exists (Step (ltW d0) (ltW d1) g0 q0 b0 q0 g1 b1); split=> // o; rewrite /lawp /lawq /=.
  rewrite /good_part /bad_part; case: (hidden o); rewrite ?mulr0 ?addr0 ?add0r mulrC divfK //; exact: lt0r_neq0.
by rewrite -mulrDl subrK mul1r.
Qed.
(* its pure factor is that of the noise on the keys that both worlds have, given that none of the unit's keys appears *)
Theorem unknown_keys_pure (b : R) : 0 <= b -> (forall o, hidden o -> p o <= (1 - d) * (b * q o)) ->
  forall o, good_part o <= b * q o.
Proof.
move=> b0 h o; have [d0 d1] := andP d01; rewrite /good_part; case: ifP => [ho|_]; last by rewrite mulr_ge0.
by rewrite ler_pdivr_mulr ?subr_gt0 // mulrC; exact: h.
Qed.
End Keys.
