function R = rot(axis, angle)
% R = rot(axis, angle)   rotation matrix of a turn about an axis
%
% See also qt2rot
  R = qt2rot(qt(axis, angle));
end
