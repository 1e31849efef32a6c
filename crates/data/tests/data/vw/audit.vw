1 |a x:1.5 y |b z:2
-1 2.0 |a x y:0.25
1 0.5 tag| w:3 v
-1 'tagged |ns:2 p:1 q:-0.5
1 |ns2:0.5 p q:4 |other r
-1 | a b c:0.5
1 3 0.1 'x |a x:0 y:1e-1
-1 |a x:+2 12:3 p_q
1 |A x |a x
1 |e
-1 |name a=b:2 c=d |name2 é:1
1 | dup dup:2 dup |a dup |b dup
-1 |a x |a y:2
1 0 |a x #no:2
-1 1 't|a  x   y:3  
1 |12 3:4 5
-1 |a:0.5 x:2 |b:3 x:-1
1.0 |f 0:1 00:2 1e3:1
