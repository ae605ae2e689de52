function R = qt2rot(q)
% R = qt2rot(q)   rotation matrix of a quaternion
%
% See also qt, rot
  s = 2 / (q(1) * q(1) + q(2) * q(2) + q(3) * q(3) + q(4) * q(4));
  w = s * q(1);
  x = s * q(2);
  y = s * q(3);
  z = s * q(4);
  R = [1 - y * q(3) - z * q(4), x * q(3) - w * q(4), x * q(4) + w * q(3)
       x * q(3) + w * q(4), 1 - x * q(2) - z * q(4), y * q(4) - w * q(2)
       x * q(4) - w * q(3), y * q(4) + w * q(2), 1 - x * q(2) - y * q(3)];
end
