function r = qtrotate(q, v)
% r = qtrotate(q, v)   a vector turned by a quaternion
%
% See also qt, qt2rot
  r = qt2rot(q) * v(:);
end
