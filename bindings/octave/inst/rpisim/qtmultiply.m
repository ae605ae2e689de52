function r = qtmultiply(p, q)
% r = qtmultiply(p, q)   product of two quaternions: first q, then p
%
% See also qt
  a = p(2:4);
  b = q(2:4);
  a = a(:);
  b = b(:);
  r = [p(1) * q(1) - a' * b; p(1) * b + q(1) * a + cross(a, b)];
end
