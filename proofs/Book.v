(* The ledger's book (ledger/{books,order,recount}.py): decided under a lock, one entry after the other, in any order of askers. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Section Book.
Variables (R : realDomainType) (budget : R) (Q : eqType) (price : Q -> R).
Hypothesis price_ge0 : forall q, 0 <= price q.
(* a question asked before is free; a new one is charged if it fits; else nothing changes *)
Definition decide (log : seq Q) (q : Q) : seq Q :=
  if q \in log then log else if \sum_(x <- log) price x + price q <= budget then q :: log else log.
Definition run (asked : seq Q) : seq Q := foldl decide [::] asked.
Definition spent (log : seq Q) := \sum_(x <- log) price x.
Lemma step log q : spent log <= budget -> spent (decide log q) <= budget.
Proof. by rewrite /decide; case: ifP => // _; case: ifP => // h _; rewrite /spent big_cons addrC. Qed.
Theorem never_over asked : 0 <= budget -> spent (run asked) <= budget.
Proof.
move=> b0; rewrite /run; have : spent [::] <= budget by rewrite /spent big_nil.
by elim: asked [::] => //= q s ih log h; apply/ih/step.
Qed.
(* whoever interleaves with whom: one question is charged at most once *)
Theorem one_charge asked : uniq (run asked).
Proof.
rewrite /run; have : uniq ([::] : seq Q) by []; elim: asked [::] => //= q s ih log u; apply: ih.
by rewrite /decide; case: ifP => // /negbT n; case: ifP => //= _; rewrite n u.
Qed.
Theorem refusal_changes_nothing log q : q \notin log -> budget < spent log + price q -> decide log q = log.
Proof. by move=> n h; rewrite /decide (negbTE n) ifN // -ltNge. Qed.
(* what is booked stays booked, and never costs less later *)
Theorem only_grows log q : spent log <= spent (decide log q).
Proof. by rewrite /decide; case: ifP => // _; case: ifP => // _; rewrite /spent big_cons ler_addr. Qed.
(* what is booked is never dropped *)
Theorem recount log q : {subset log <= decide log q}.
Proof. by move=> x; rewrite /decide; case: ifP => // _; case: ifP => // _; rewrite inE => ->; rewrite orbT. Qed.
(* a restart that replays the entries in their order finds the same book, entry for entry *)
Inductive booked : seq Q -> Prop :=
| BookedNone : booked [::]
| BookedOne q log : booked log -> q \notin log -> spent log + price q <= budget -> booked (q :: log).
Lemma decide_booked log q : booked log -> booked (decide log q).
Proof.
by move=> b; rewrite /decide; case: ifP => // /negbT n; case: ifP => // h; exact: BookedOne.
Qed.
Lemma run_booked asked : booked (run asked).
Proof. by rewrite /run; have := BookedNone; elim: asked [::] => //= q s ih log b; apply/ih/decide_booked. Qed.
Theorem replay asked : run (rev (run asked)) = run asked.
Proof.
elim: (run_booked asked) => // q log _ ih n h.
by rewrite rev_cons /run -cats1 foldl_cat /= -/(run (rev log)) ih /decide (negbTE n) h.
Qed.
End Book.
