(* Small tables that bridges read: computed by Coq from the definitions of the theorems, never retyped. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
Require Import Samplers Totals.
Definition z (x : int) : Z := match x with Posz n => Z.of_nat n | Negz n => Z.opp (Z.of_nat n.+1) end.
Definition each {T U : Type} (s : seq T) (f : T -> seq U) : seq U := flatten (map f s).
Definition small : seq nat := [:: 0; 1; 2; 3; 4].
(* gap of row 44: every start < stop below 6 and every two thresholds with bounds of width at most 1 *)
Definition some_bounds : seq (int * int) := [seq (Posz a, Posz (a + w)) | a <- small, w <- [:: 0; 1]].
Definition gap_table : seq (seq Z) :=
  each small (fun i => each [:: i.+1; i.+2] (fun j => each some_bounds (fun p => [seq
    [:: Z.of_nat i; Z.of_nat j; z p.1; z p.2; z q.1; z q.2;
        match gap (Posz i) (Posz j) [:: p; q] 0 with Some k => Z.of_nat k | None => Z.opp 1 end] | q <- some_bounds]))).
(* depth of row 30 *)
Definition depth_table : seq (seq Z) :=
  each small (fun x => each small (fun y => [seq
    [:: Z.of_nat x; Z.of_nat y; Z.of_nat t; z (depth (Posz x) (Posz y) (Posz t))] | t <- small])).
(* fan_out of row 28: a scan of k rows joined to m public rows, to a second scan of l rows, united with it *)
Definition fan_table : seq (seq Z) :=
  each [:: 1; 2; 3] (fun k => each [:: 1; 2; 5] (fun m => [seq
    [:: Z.of_nat k; Z.of_nat m; Z.of_nat l;
        Z.of_nat (fan_out (JoinPublic m (fun x : nat => [:: x]) (Scan k [::])));
        Z.of_nat (fan_out (JoinPeople (fun x _ : nat => Some x) (Scan k [::]) (Scan l [::])));
        Z.of_nat (fan_out (Union (Scan k [::]) (Scan l [::] : relation nat)))] | l <- [:: 1; 2; 4]])).
