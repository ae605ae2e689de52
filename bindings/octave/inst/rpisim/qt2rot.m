function R = qt2rot(q)
% R = qt2rot(q)   rotation matrix of a quaternion
%
% See also qt, rot
  q = q / norm(q);
  w = q(1);
  v = [q(2); q(3); q(4)];
  R = (w * w - v' * v) * eye(3) + 2 * (v * v') + 2 * w * hat(v);
end
