function q = qt(axis, angle)
% q = qt(axis, angle)   quaternion of a turn about an axis, scalar first, 4 x 1
%
% See also qt2rot, qtrotate, qtmultiply
  q = [cos(angle / 2); sin(angle / 2) * axis(:) / norm(axis)];
end
