function S = hat(v)
% S = hat(v)   the matrix of a cross product: hat(v) * w = cross(v, w)
%
% See also cross3
  S = [0, -v(3), v(2); v(3), 0, -v(1); -v(2), v(1), 0];
end
