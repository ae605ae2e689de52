function r = qtconj(q)
% r = qtconj(q)   conjugate of a quaternion
%
% See also qtinv
  r = [q(1); -q(2); -q(3); -q(4)];
end
